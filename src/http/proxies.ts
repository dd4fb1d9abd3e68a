/**
 * Proxies that are trusted to state a client's address in X-Forwarded-For; anybody else's is
 * ignored.
 */
import ipaddr from 'ipaddr.js';

type Network = [ipaddr.IPv4 | ipaddr.IPv6, number];

/** Parses an address or a network ("10.0.0.0/8"); null for anything else. */
function networkOf(text: string): Network | null {
  if (ipaddr.isValidCIDR(text)) return ipaddr.parseCIDR(text);
  if (!ipaddr.isValid(text) || ipaddr.IPv4.isValid(text) !== text.includes('.')) return null;
  const address = ipaddr.parse(text);
  return [address, address instanceof ipaddr.IPv4 ? 32 : 128];
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
