/**
 * Guards connections to addresses that come from configuration (the compliance provider, webhook
 * endpoints) against being led into the operator's own network. A name is resolved once for each
 * connection and the connection goes to the very address that was checked, so that a name that
 * changes its mind in between gains nothing.
 *
 * Everything that is not plainly public is refused; the registries of special-purpose addresses
 * (RFC 6890) name the ranges, and ipaddr.js knows them.
 */
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { buildConnector } from 'undici';
import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** Ranges of one's own network, reachable where the operator allows them. */
const OWN_RANGES: ReadonlySet<string> = new Set([
  'loopback', 'private', 'linkLocal', 'carrierGradeNat', 'uniqueLocal',
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
    ? address.toIPv4Address() : address;
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

/** A name's further addresses are not tried. */
export const ADDRESSES_MAX = 4;

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

/** Raised by connections that the guard refuses. */
class RefusedAddressError extends Error {
  override readonly name = 'RefusedAddressError';
  readonly code = 'SITUS_REFUSED_ADDRESS';
}

export type Target = { readonly url: URL } | { readonly refused: string };

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
function bareHost(hostname: string): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
}

/**
 * Reads a configured address. What can be told without asking for the name's addresses is told
 * here; `refused` completes the sentence "The address …" and repeats nothing of it.
 */
export function readTarget(text: string, allowPrivate: boolean): Target {
  if (text.length > TARGET_CHARS_MAX) return { refused: 'is too long' };
  if (/[\s\\\0-\x1f\x7f]/.test(text) || !URL.canParse(text)) return { refused: 'is not a URL' };
  const url = new URL(text);
  const refused = refusalOf(text, url, allowPrivate);
  return refused === null ? { url } : { refused };
}

const resolveName: Resolve = async (name) => {
  const found = await lookup(name, { all: true });
  return found.map(({ address }) => address);
};

/** A name's addresses; the system's resolver may take minutes and cannot be stopped. */
async function addressesOf(name: string, options: GuardOptions): Promise<readonly string[]> {
  const { resolve = resolveName, connectMs = CONNECT_MS_MAX } = options;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    const error = Object.assign(new Error('the name was not resolved'), { code: 'ETIMEDOUT' });
    timer = setTimeout(() => reject(error), connectMs);
  });
  try {
    return await Promise.race([resolve(name), late]);
  } finally {
    clearTimeout(timer);
  }
}

/** The addresses of a host that may be connected to. */
async function permitted(host: string, options: GuardOptions): Promise<readonly string[]> {
  const { allowPrivate } = options;
  const addresses = isIP(host) === 0 ? await addressesOf(host, options) : [host];
  const allowed = addresses.filter((address) => addressRefusal(address, allowPrivate) === null);
  if (allowed.length > 0) return allowed.slice(0, ADDRESSES_MAX);
  const ranges = addresses.map((address) => addressRefusal(address, allowPrivate) ?? '');
  throw new RefusedAddressError(
    `no address may be connected to (${[...new Set(ranges)].join(', ') || 'none found'})`,
  );
}

/**
 * A connector for undici's clients and agents: `new Agent({ connect: guardedConnect(…) })`. The
 * name stays what TLS verifies and what the Host field says. Several addresses are tried in turn.
 */
export function guardedConnect(options: GuardOptions): Connect {
  const dial = options.dial ?? buildConnector({
    timeout: options.connectMs ?? CONNECT_MS_MAX,
    // Said here, an environment variable cannot switch it off.
    rejectUnauthorized: true,
    ...(options.ca === undefined ? {} : { ca: options.ca }),
  });
  return (target, callback) => {
    const host = bareHost(target.hostname);
    const name = isIP(host) === 0 ? { servername: host } : {};
    const dialNext = (addresses: readonly string[], index: number): void => {
      const hostname = addresses[index] ?? '';
      dial({ ...target, ...name, hostname }, (...[error, socket]) => {
        if (error === null) callback(null, socket);
        else if (index + 1 < addresses.length) dialNext(addresses, index + 1);
        else callback(error, null);
      });
    };
    permitted(host, options).then(
      (addresses) => dialNext(addresses, 0),
      (error: unknown) => callback(
        error instanceof Error ? error : new Error('the name was not resolved'), null,
      ),
    );
  };
}
