/**
 * Secrets and signatures of events. Two schemes are sent side by side: `X-Signature`, and the
 * fields of Standard Webhooks 1.0.0.
 */
import { createHmac } from 'node:crypto';

const PREFIX = 'whsec_';
export const KEY_BYTES_MIN = 24;
export const KEY_BYTES_MAX = 64;
/** The new secret and the previous one. */
const SECRETS_MAX = 2;

export interface Secret {
  /** The secret as configured, with its prefix: the key of `X-Signature`. */
  readonly text: Uint8Array;
  /** The key of `webhook-signature`: the decoded base64 after `whsec_`, or else the text itself. */
  readonly key: Uint8Array;
}

type SecretsResult =
  | { readonly kind: 'secrets'; readonly secrets: readonly Secret[] }
  | { readonly kind: 'refused'; readonly why: string };

function secretOf(text: string): Secret | null {
  const bytes = Buffer.from(text, 'utf8');
  const encoded = text.startsWith(PREFIX) ? text.slice(PREFIX.length) : null;
  if (encoded === null) {
    return /^[\x21-\x7e]+$/.test(text) && isKeyLength(bytes.length)
      ? { text: bytes, key: bytes }
      : null;
  }
  const key = Buffer.from(encoded, 'base64');
  // Decoding skips characters that are not base64; encoding the result again shows whether there
  // were any.
  const unpadded = (base64: string): string => base64.replace(/=+$/, '');
  return unpadded(key.toString('base64')) === unpadded(encoded) && isKeyLength(key.length)
    ? { text: bytes, key }
    : null;
}

function isKeyLength(bytes: number): boolean {
  return bytes >= KEY_BYTES_MIN && bytes <= KEY_BYTES_MAX;
}

/**
 * Reads one secret, or two with a comma between: the new one, then the previous one. Each is
 * `whsec_` and 24 to 64 bytes in base64, or 24 to 64 visible ASCII characters. `why` completes a
 * sentence that begins with the setting's name, and repeats nothing of the value.
 */
export function parseSecrets(value: string): SecretsResult {
  const parts = value.split(',').map((part) => part.trim());
  if (parts.length > SECRETS_MAX) {
    return { kind: 'refused', why: `holds more than ${SECRETS_MAX} secrets` };
  }
  const secrets = parts.flatMap((part) => secretOf(part) ?? []);
  if (secrets.length < parts.length) {
    return {
      kind: 'refused',
      why:
        `must be whsec_ and ${KEY_BYTES_MIN} to ${KEY_BYTES_MAX} bytes in base64, or ` +
        `${KEY_BYTES_MIN} to ${KEY_BYTES_MAX} visible ASCII characters; two have a comma between`,
    };
  }
  return { kind: 'secrets', secrets };
}

interface Signed {
  readonly id: string;
  /** Unix time of the attempt in seconds. */
  readonly timestamp: number;
  /** The bytes of the request's body. */
  readonly body: Uint8Array;
}

/** Lower-case hex HMAC-SHA256 of the body. */
export function hexSignature({ text }: Secret, body: Uint8Array): string {
  return createHmac('sha256', text).update(body).digest('hex');
}

/** One entry of `webhook-signature`: HMAC-SHA256 of id, timestamp and body, in base64. */
export function standardSignature({ key }: Secret, { id, timestamp, body }: Signed): string {
  const hmac = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body);
  return `v1,${hmac.digest('base64')}`;
}

/**
 * The fields that sign an event. `X-Signature` has room for one secret. While there are two it uses
 * the old one, so that a receiver that knows only this one still accepts events.
 */
export function signatureFields(
  secrets: readonly Secret[],
  signed: Signed,
): Readonly<Record<string, string>> {
  const oldest = secrets.at(-1);
  return {
    'webhook-id': signed.id,
    'webhook-timestamp': String(signed.timestamp),
    'webhook-signature': secrets.map((secret) => standardSignature(secret, signed)).join(' '),
    ...(oldest === undefined ? {} : { 'X-Signature': hexSignature(oldest, signed.body) }),
  };
}
