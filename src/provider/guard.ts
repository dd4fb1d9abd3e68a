/**
 * Keeps connections to addresses from the configuration (the compliance provider, webhook
 * endpoints) from being led into the operator's own network. A name is resolved once for each
 * connection, and the connection is made to the very address that was checked, so that changing
 * what the name resolves to in between has no effect.
 *
 * Every address that is not plainly public is refused. The registries of special-purpose addresses
 * (RFC 6890) list the ranges, which ipaddr.js knows.
 */
import { isIP } from 'node:net';
import type { buildConnector } from 'undici';
import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** Ranges of one's own network, which the operator may allow. */
const OWN_RANGES: ReadonlySet<string> = new Set([
  'loopback',
  'private',
  'linkLocal',
  'carrierGradeNat',
  'uniqueLocal',
]);

/** All that is routed on the public network today (2000::/3); the rest of IPv6 is not public. */
const PUBLIC_IPV6: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('2000::'), 3];

/** The usual names of ranges. */
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
 * Why no connection to an address is allowed: the name of its range; null where it is allowed. With
 * `allowPrivate`, addresses of one's own network are allowed. Never allowed are addresses that
 * belong to nobody (multicast, unspecified, reserved) or contain another address (NAT64, 6to4,
 * Teredo).
 */
export function addressRefusal(text: string, allowPrivate: boolean): string | null {
  if (!ipaddr.isValid(text)) return 'unreadable';
  const parsed = ipaddr.parse(text);
  const range = rangeOf(allowPrivate ? unmapped(parsed) : parsed);
  if (range === 'unicast' || (allowPrivate && OWN_RANGES.has(range))) return null;
  return NAMES[range] ?? range;
}

/** The ports that are allowed outside one's own network; with `allowPrivate` any port is. */
const PUBLIC_PORTS: readonly number[] = [443, 8443];

/** Longest time to resolve a name, and then to connect to one address, including TLS. */
export const CONNECT_MS_MAX = 5_000;

export const TARGET_CHARS_MAX = 2_048;

/** Returns all addresses of a name. Rejects when there are none. */
export type Resolve = (name: string) => Promise<readonly string[]>;

export type Connect = buildConnector.connector;

export interface GuardOptions {
  /** Whether addresses of one's own network and plain http are allowed. */
  readonly allowPrivate: boolean;
  /** Certificates of authorities to trust instead of the public ones. */
  readonly ca?: string;
  readonly connectMs?: number;
  /** Replaced in tests, like the next one. */
  readonly resolve?: Resolve;
  /** Connects to the address in `hostname`, which was checked before. */
  readonly dial?: Connect;
}

type Target =
  | { readonly kind: 'target'; readonly url: URL }
  | { readonly kind: 'refused'; readonly why: string };

/** Matches the host as it is written, between the start of the authority and the port. */
const WRITTEN = /^[a-z]+:\/\/(?:[^/?#@]*@)?(\[[^\]/?#]*\]|[^:/?#]*)/i;

/**
 * Whether an IPv4 address is written other than in four plain parts, which disguises it: to a URL,
 * "2130706433" and "0x7f.1" are both 127.0.0.1.
 */
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

/** "::1" for "[::1]". */
export function bareHost(hostname: string): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
}

/**
 * Parses a configured address and checks all that needs no name resolution. `why` completes the
 * sentence "The address …" and repeats no part of the address.
 */
export function readTarget(text: string, allowPrivate: boolean): Target {
  const refused = (why: string): Target => ({ kind: 'refused', why });
  if (text.length > TARGET_CHARS_MAX) return refused('is too long');
  if (/[\s\\\0-\x1f\x7f]/.test(text) || !URL.canParse(text)) return refused('is not a URL');
  const url = new URL(text);
  const why = refusalOf(text, url, allowPrivate);
  return why === null ? { kind: 'target', url } : refused(why);
}
