/**
 * Which addresses the service may connect to when somebody else's name decides. Everything that is
 * not plainly public is refused; the registries of special-purpose addresses (RFC 6890) name the
 * ranges, and ipaddr.js knows them.
 */
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
