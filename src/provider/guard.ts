/**
 * Guards connections to addresses that come from configuration (the compliance provider, webhook
 * endpoints) against being led into the operator's own network. A name is resolved once for each
 * connection and the connection goes to the very address that was checked, so that a name that
 * changes its mind in between gains nothing.
 *
 * Everything that is not plainly public is refused; the registries of special-purpose addresses
 * (RFC 6890) name the ranges, and ipaddr.js knows them.
 */
import { isIP } from 'node:net';
import type { buildConnector } from 'undici';
import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** Ranges of one's own network, reachable where the operator allows them. */
const OWN_RANGES: ReadonlySet<string> = new Set([
  'loopback',
  'private',
  'linkLocal',
  'carrierGradeNat',
  'uniqueLocal',
]);

/** Everything routed on the public network today (2000::/3); the rest of IPv6 is not. */
const PUBLIC_IPV6: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('2000::'), 3];

/** What people call a range. */
const NAMES: Readonly<Record<string, string>> = {
  linkLocal: 'link-local',
  carrierGradeNat: 'carrier-grade NAT',
  uniqueLocal: 'unique local',
  ipv4Mapped: 'IPv4-mapped',
  rfc6145: 'IPv4-translated',
  rfc6052: 'NAT64',
};

function rangeOf(address: Address): string {
  const range = address.range();
  if (range !== 'unicast' || address instanceof ipaddr.IPv4) return range;
  return address.match(PUBLIC_IPV6) ? range : 'reserved';
}

function unmapped(address: Address): Address {
  return address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress()
    ? address.toIPv4Address()
    : address;
}

/**
 * Why an address may not be connected to: the name of its range, or null when it may. With
 * `allowPrivate`, addresses of one's own network may; those that are nobody's (multicast,
 * unspecified, reserved) or that carry another one inside (NAT64, 6to4, Teredo) never may.
 */
export function addressRefusal(text: string, allowPrivate: boolean): string | null {
  if (!ipaddr.isValid(text)) return 'unreadable';
  const parsed = ipaddr.parse(text);
  const range = rangeOf(allowPrivate ? unmapped(parsed) : parsed);
  if (range === 'unicast' || (allowPrivate && OWN_RANGES.has(range))) return null;
  return NAMES[range] ?? range;
}

/** Ports outside one's own network. With private networks allowed, any. */
const PUBLIC_PORTS: readonly number[] = [443, 8443];

/** Longest time to resolve a name, and then to connect to one address, TLS included. */
export const CONNECT_MS_MAX = 5_000;

export const TARGET_CHARS_MAX = 2_048;

/** All addresses of a name. Rejects when there are none. */
export type Resolve = (name: string) => Promise<readonly string[]>;

export type Connect = buildConnector.connector;

export interface GuardOptions {
  /** Addresses of one's own network may be connected to, and plain http may be used. */
  readonly allowPrivate: boolean;
  /** Certificates of authorities to trust instead of the public ones. */
  readonly ca?: string;
  readonly connectMs?: number;
  /** Replaced in tests, as is the next one. */
  readonly resolve?: Resolve;
  /** Connects to the address in `hostname`, which is checked. */
  readonly dial?: Connect;
}

type Target =
  | { readonly kind: 'target'; readonly url: URL }
  | { readonly kind: 'refused'; readonly why: string };

/** The host as written: between the authority's start and its port. */
const WRITTEN = /^[a-z]+:\/\/(?:[^/?#@]*@)?(\[[^\]/?#]*\]|[^:/?#]*)/i;

/** "2130706433" and "0x7f.1" are 127.0.0.1 to a URL: what is not in four plain parts hides. */
function isDisguised(text: string, url: URL): boolean {
  const written = WRITTEN.exec(text)?.[1] ?? '';
  return isIP(url.hostname) === 4 && written !== url.hostname;
}

function refusalOf(text: string, url: URL, allowPrivate: boolean): string | null {
  if (url.protocol !== 'https:' && !(allowPrivate && url.protocol === 'http:')) {
    return allowPrivate ? 'must begin with https:// or http://' : 'must begin with https://';
  }
  if (url.username !== '' || url.password !== '') return 'may not hold a user name or password';
  if (url.search !== '' || url.hash !== '' || /[?#]/.test(text)) {
    return 'may not have a query or fragment';
  }
  if (isDisguised(text, url)) return 'must name its host by name or as a plain address';
  const port = url.port === '' ? null : Number(url.port);
  if (!allowPrivate && port !== null && !PUBLIC_PORTS.includes(port)) {
    return `must use port ${PUBLIC_PORTS.join(' or ')}`;
  }
  const host = bareHost(url.hostname);
  const range = isIP(host) === 0 ? null : addressRefusal(host, allowPrivate);
  return range === null ? null : `names an address that is not public (${range})`;
}

/** "::1" of "[::1]" */
export function bareHost(hostname: string): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
}

/**
 * Reads a configured address. What can be told without asking for the name's addresses is told
 * here; `why` completes the sentence "The address …" and repeats nothing of it.
 */
export function readTarget(text: string, allowPrivate: boolean): Target {
  const refused = (why: string): Target => ({ kind: 'refused', why });
  if (text.length > TARGET_CHARS_MAX) return refused('is too long');
  if (/[\s\\\0-\x1f\x7f]/.test(text) || !URL.canParse(text)) return refused('is not a URL');
  const url = new URL(text);
  const why = refusalOf(text, url, allowPrivate);
  return why === null ? { kind: 'target', url } : refused(why);
}
