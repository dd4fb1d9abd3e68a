/** Numbers the localities of states, and collects what is known of each. */
import type { LocalityRow } from '../../dataset/locality-list.js';

/** Labels of localities: state and folded name → label → weight. */
export type Labels = Map<string, Map<string, number>>;

/** Adds labels that were counted elsewhere. */
export function mergeLabels(into: Labels, labels: Labels): void {
  for (const [key, own] of labels) {
    const known = into.get(key);
    if (known === undefined) into.set(key, new Map(own));
    else for (const [label, weight] of own) known.set(label, (known.get(label) ?? 0) + weight);
  }
}

/** Numbers the localities of every state from 1, in order of their folded names. */
export class LocalityNumbers {
  readonly #ids = new Map<string, number>();
  readonly #states = new Map<string, { readonly keys: string[]; readonly flags: number[] }>();

  /** `keys` are states and folded names, as in `Labels`. */
  constructor(keys: Iterable<string>) {
    for (const key of [...new Set(keys)].sort()) {
      const own = this.#of(key.slice(0, 2));
      this.#ids.set(key, own.keys.length);
      own.keys.push(key);
      own.flags.push(0);
    }
  }

  #of(state: string): { readonly keys: string[]; readonly flags: number[] } {
    let own = this.#states.get(state);
    if (own === undefined) {
      own = { keys: [''], flags: [0] };
      this.#states.set(state, own);
    }
    return own;
  }

  /** Number of a locality; 0 for none. */
  id(state: string, fold: string): number {
    return fold === '' ? 0 : (this.#ids.get(`${state}|${fold}`) ?? 0);
  }

  /** Sets a flag of a locality: LOCALITY_WITHOUT_ZIPS or LOCALITY_IS_MUNICIPALITY. */
  mark(state: string, id: number, flag: number): void {
    const flags = this.#states.get(state)?.flags;
    if (flags?.[id] !== undefined) flags[id]! |= flag;
  }

  /** The flags of a state's localities, by number. */
  flags(state: string): readonly number[] {
    return this.#of(state).flags;
  }

  /** States and folded names of one state, in the order of their numbers from 1. */
  keys(state: string): readonly string[] {
    return this.#of(state).keys.slice(1);
  }

  rows(state: string, labels: Labels): readonly LocalityRow[] {
    const { keys, flags } = this.#of(state);
    return keys.map((key, id) =>
      id === 0
        ? ['', '', flags[0]!]
        : [key.slice(3), commonLabel(labels.get(key) ?? new Map()), flags[id]!],
    );
  }
}

/** The label that is used most often; of equals, the first in order. */
export function commonLabel(labels: ReadonlyMap<string, number>): string {
  let best = '';
  let most = 0;
  for (const [label, weight] of labels) {
    if (weight > most || (weight === most && label < best)) {
      best = label;
      most = weight;
    }
  }
  return best;
}
