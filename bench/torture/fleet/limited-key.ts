/** A key with a rate, which sends more requests to all nodes together than it may. */
import { askNode, type FleetClient } from './client.js';

const WINDOW_MS = 60_000;
const CLIENTS = 3;
const PAUSE_MS = 60;

/** When an admitted request was sent, and when its answer had arrived. */
interface Admitted {
  readonly from: number;
  readonly until: number;
}

export class LimitedKey {
  readonly admitted: Admitted[] = [];
  refused = 0;
  readonly wrong: string[] = [];
  readonly #key: string;
  readonly #client: FleetClient;

  constructor(key: string, client: FleetClient) {
    this.#key = key;
    this.#client = client;
  }

  /** Sends requests until the client is stopping. */
  async run(): Promise<void> {
    await Promise.all(Array.from({ length: CLIENTS }, () => this.#ask()));
  }

  /**
   * The most requests that were certainly admitted within a minute: sent and answered in it.
   * Requests at either end may have been admitted in it or not, and do not count.
   */
  most(): number {
    const byEnd = [...this.admitted].sort((a, b) => a.until - b.until);
    let most = 0;
    for (const { from } of this.admitted) {
      const within = byEnd.filter(
        (each) => each.from >= from && each.until <= from + WINDOW_MS,
      ).length;
      most = Math.max(most, within);
    }
    return most;
  }

  async #ask(): Promise<void> {
    while (!this.#client.stopping) {
      const from = performance.now();
      const answer = await askNode(this.#client.pick(), {
        method: 'GET',
        path: '/request/v60?postalcode=91010',
        key: this.#key,
      }).catch(() => null);
      if (answer?.status === 200) this.admitted.push({ from, until: performance.now() });
      else if (answer?.status === 429) this.refused += 1;
      else if (answer !== null && answer.status !== 503) {
        this.wrong.push(`a lookup was answered ${answer.status}: ${answer.text}`);
      }
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  }
}
