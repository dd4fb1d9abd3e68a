/** Reads the names of streets and localities in sources, each spelling only once. */
import type { Gazetteer } from '../../address/parsed.js';
import { foldStreetName, formatStreetName, parseStreetName } from '../../address/street-name.js';
import { foldLocality } from '../../dataset/city-names.js';

/** A street's name in its parts, for one spelling. */
export interface StreetSpelling {
  /** The name without direction and suffix, with its words apart. */
  readonly name: string;
  readonly fold: string;
  readonly pre: string;
  readonly suffix: string;
  readonly post: string;
  readonly label: string;
}

export class Spellings {
  readonly #gazetteer: Gazetteer;
  readonly #streets = new Map<string, StreetSpelling | null>();
  readonly #folds = new Map<string, string>();

  constructor(gazetteer: Gazetteer) {
    this.#gazetteer = gazetteer;
  }

  /** Reads a street's name; null for a text without one. */
  street(text: string): StreetSpelling | null {
    const known = this.#streets.get(text);
    if (known !== undefined) return known;
    const name = parseStreetName(text, this.#gazetteer);
    const fold = foldStreetName(name.name);
    const spelling =
      fold === ''
        ? null
        : {
            name: name.name,
            fold,
            pre: name.preDirection,
            suffix: name.suffix,
            post: name.postDirection,
            label: formatStreetName(name),
          };
    this.#streets.set(ownText(text), spelling);
    return spelling;
  }

  /** The folded name of a locality; "" for none. */
  locality(name: string): string {
    if (name === '') return '';
    let fold = this.#folds.get(name);
    if (fold === undefined) {
      fold = foldLocality(name);
      this.#folds.set(ownText(name), fold);
    }
    return fold;
  }

  /** Forgets everything, so that memory stays bounded. */
  clear(): void {
    this.#streets.clear();
    this.#folds.clear();
  }
}

/** A copy of the text. A part of a longer text would keep all of that in memory. */
function ownText(text: string): string {
  return Buffer.from(text, 'utf8').toString('utf8');
}

// States by name and code, to read route numbers in street columns ("NY ROUTE 17").

/** A gazetteer of states only, since street columns name no cities. */
export function stateGazetteer(
  states: Iterable<{ readonly code: string; readonly name: string }>,
): Gazetteer {
  const codes = new Map<string, string>();
  for (const { code, name } of states) {
    codes.set(code, code);
    codes.set(name.toUpperCase(), code);
  }
  return { stateOf: (words) => codes.get(words) ?? '', isCity: () => false };
}
