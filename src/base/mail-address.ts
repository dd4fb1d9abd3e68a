/** What is a mail address: asked where one is taken and where a mail is sent. */

/** RFC 5321, 4.5.3.1. */
const LOCAL_CHARS_MAX = 64;
const DOMAIN_CHARS_MAX = 255;

/** No spaces, no control characters, nothing that means something in a list of addresses. */
const LOCAL = /^[^\s\p{Cc}\p{Cf}\p{Cs}@<>()[\]\\,;:"]+$/u;
const DOMAIN = /^[\p{L}\p{N}](?:[\p{L}\p{N}.-]*[\p{L}\p{N}])?$/u;

/** Tells one plain address, "jane@shop.example". */
export function isMailAddress(text: string): boolean {
  const at = text.lastIndexOf('@');
  const [local, domain] = [text.slice(0, Math.max(at, 0)), text.slice(at + 1)];
  return local.length <= LOCAL_CHARS_MAX && domain.length <= DOMAIN_CHARS_MAX
    && LOCAL.test(local) && DOMAIN.test(domain) && !domain.includes('..');
}
