/** Rates that were asked for and are not held, for whoever runs the service. */
import { RecentCache } from '../../base/tables.js';
import type { Failure } from '../../failure.js';

export interface Unheld {
  readonly state: string;
  /** They are not for days that have an end, such as those before the state's list begins. */
  readonly past: boolean;
  /** Whose rates, and what would fill the gap. */
  readonly why: string;
}

/** Refusals kept, in each of two generations: one an area at most. */
const REFUSALS_MAX = 16_384;

/** Tells once of each state for which an answer was refused since its rates are not held. */
export class UnheldRates {
  readonly #tell: (unheld: Unheld) => void;
  /** By what the refusal says: carts name the member at fault on a copy of it. */
  readonly #met = new RecentCache<string, Unheld>(REFUSALS_MAX);
  /** States that were told of, now and in the past. */
  readonly #told = new Set<string>();

  constructor(tell: (unheld: Unheld) => void) {
    this.#tell = tell;
  }

  /** Such rates were asked for. Whether the answer rests on them its refusal tells. */
  met(unheld: Unheld): void {
    this.#met.set(unheld.why, unheld);
  }

  /** An answer was refused, for want of such rates or for something else. */
  refused({ detail = '' }: Failure): void {
    const unheld = this.#met.get(detail);
    if (unheld === undefined) return;
    const kind = `${unheld.state} ${unheld.past}`;
    if (this.#told.has(kind)) return;
    this.#told.add(kind);
    this.#tell(unheld);
  }
}
