/**
 * Proxies that are trusted to state a client's address in X-Forwarded-For; anybody else's is
 * ignored.
 */
import ipaddr from 'ipaddr.js';

type Network = [ipaddr.IPv4 | ipaddr.IPv6, number];

/** The bits before the IPv4 address in an IPv6 address that stands for one. */
const MAPPED_BITS = 96;

/**
 * Parses an address or a network ("10.0.0.0/8"); null for anything else. IPv4 has to be four plain
 * decimal numbers: "172.16/12" and "010.0.0.0/8" mean one network to many readers, and another one
 * to the library. An IPv4 address within IPv6 is turned into IPv4, as that of a client is.
 */
function networkOf(text: string): Network | null {
  const [name = ''] = text.split('/');
  const isLong = name.includes(':');
  if (!isLong || name.includes('.')) {
    const decimal = name.slice(name.lastIndexOf(':') + 1);
    if (!ipaddr.IPv4.isValidFourPartDecimal(decimal)) return null;
  }
  const network = name === text ? `${name}/${isLong ? 128 : 32}` : text;
  if (!ipaddr.isValidCIDR(network)) return null;
  const [address, bits] = ipaddr.parseCIDR(network);
  if (address instanceof ipaddr.IPv4 || !address.isIPv4MappedAddress()) return [address, bits];
  return bits < MAPPED_BITS ? null : [address.toIPv4Address(), bits - MAPPED_BITS];
}

function namesOf(text: string): readonly string[] {
  return text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

export class TrustedProxies {
  readonly #networks: readonly Network[];

  private constructor(networks: readonly Network[]) {
    this.#networks = networks;
  }

  /**
   * The proxies in the setting; null where it names none.
   * @throws Error that names the setting where it is no list of addresses and networks.
   */
  static of(text: string): TrustedProxies | null {
    const networks = namesOf(text).map((name) => {
      const network = networkOf(name);
      if (network !== null) return network;
      throw new Error(
        'SITUS_PROXIES must be addresses or networks (10.0.0.0/8), with commas between',
      );
    });
    return networks.length === 0 ? null : new TrustedProxies(networks);
  }

  /**
   * The address that a request is counted under: that of the connection or, if that is a trusted
   * proxy, the last one in its field that is not. A client may have invented all that precedes it.
   * A text that is no address ends the search.
   */
  clientOf(address: string, forwarded: string): string {
    if (!this.#trusts(address)) return address;
    let client = address;
    for (const hop of forwarded.split(',').reverse()) {
      const named = bareAddress(hop.trim());
      if (named === '') break;
      client = named;
      if (!this.#trusts(named)) break;
    }
    return client;
  }

  #trusts(text: string): boolean {
    if (!ipaddr.isValid(text)) return false;
    const address = ipaddr.process(text);
    return this.#networks.some(
      ([network, bits]) => network.kind() === address.kind() && address.match(network, bits),
    );
  }
}

/**
 * "203.0.113.7" of "203.0.113.7:51034", and likewise for "[2001:db8::1]:51034"; empty for a text
 * that is no address.
 */
function bareAddress(hop: string): string {
  const bare =
    /^\[([^\]]+)\](?::\d+)?$/.exec(hop)?.[1] ?? /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(hop)?.[1] ?? hop;
  // Written in full, as by the native server, since clients are counted by the groups of a network.
  return ipaddr.isValid(bare) ? ipaddr.process(bare).toNormalizedString() : '';
}
