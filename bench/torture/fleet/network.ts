/**
 * The machines of a fleet on a single one: network namespaces with an address each behind a bridge.
 * Packets of a node that is cut off are lost, as behind a broken switch, and nobody is told.
 */
import { execFileSync } from 'node:child_process';

const NODE_FIRST = 10;
const NET_MAX = 250;

function ip(...args: readonly string[]): void {
  execFileSync('ip', [...args], { stdio: ['ignore', 'ignore', 'pipe'] });
}

/** Why no namespaces can be made here, in a sentence; null where they can. */
export function networkProblem(): string | null {
  const name = `st-probe-${process.pid}`;
  try {
    ip('netns', 'add', name);
    ip('netns', 'del', name);
    return null;
  } catch {
    return 'network namespaces cannot be made here: that takes root and iproute2';
  }
}

export class FleetNetwork {
  /** The address on which the engines listen. */
  readonly gateway: string;
  readonly #bridge: string;
  readonly #net: string;
  readonly #tag: string;
  readonly #nodes: number;

  /** @throws Error where namespaces cannot be made. */
  constructor(nodes: number) {
    this.#tag = `st${process.pid.toString(36)}`;
    this.#bridge = `${this.#tag}br`;
    this.#net = `10.213.${1 + (process.pid % NET_MAX)}`;
    this.gateway = `${this.#net}.1`;
    this.#nodes = nodes;
    try {
      ip('link', 'add', this.#bridge, 'type', 'bridge');
      ip('addr', 'add', `${this.gateway}/24`, 'dev', this.#bridge);
      ip('link', 'set', this.#bridge, 'up');
      for (let node = 0; node < nodes; node += 1) this.#add(node);
    } catch (error) {
      this.close();
      throw error;
    }
  }

  address(node: number): string {
    return `${this.#net}.${NODE_FIRST + node}`;
  }

  namespace(node: number): string {
    return `${this.#tag}n${node}`;
  }

  /** From now on all packets to and from the node are lost. */
  cut(node: number): void {
    ip('link', 'set', this.#outside(node), 'nomaster');
  }

  heal(node: number): void {
    ip('link', 'set', this.#outside(node), 'master', this.#bridge);
  }

  close(): void {
    const forget = (...args: readonly string[]): void => {
      try {
        ip(...args);
      } catch {
        // It did not exist.
      }
    };
    for (let node = 0; node < this.#nodes; node += 1) forget('netns', 'del', this.namespace(node));
    forget('link', 'del', this.#bridge);
  }

  #outside(node: number): string {
    return `${this.#tag}v${node}`;
  }

  #add(node: number): void {
    const [name, outside] = [this.namespace(node), this.#outside(node)];
    ip('netns', 'add', name);
    ip('link', 'add', outside, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', name);
    ip('link', 'set', outside, 'master', this.#bridge);
    ip('link', 'set', outside, 'up');
    ip('-n', name, 'addr', 'add', `${this.address(node)}/24`, 'dev', 'eth0');
    ip('-n', name, 'link', 'set', 'eth0', 'up');
    ip('-n', name, 'link', 'set', 'lo', 'up');
  }
}
