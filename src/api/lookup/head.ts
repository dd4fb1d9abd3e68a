/** The header fields of lookup answers, joined once per combination. */
import {
  FLAG_ESTIMATED, FLAG_PARTIAL, FLAG_STALE, FLAG_XML, FLAGS_SPAN,
} from '../../pool/types.js';
import { PRECISIONS } from '../../engine/situs.js';
import { LIMIT_HEADER, REMAINING_HEADER } from '../../http/rate-limit.js';
import { headOf, JSON_TYPE, NumberedHead, XML_TYPE, type Fields } from '../../http/reply.js';

const FLAGS = FLAG_XML | FLAG_ESTIMATED | FLAG_STALE | FLAG_PARTIAL;
/** Different limits kept; there are about as many as plans. */
const LIMITS_MAX = 256;

/** What an answer rests on: how its place was found, and the release. */
function locationFields(dataset: string, precision: number, flags: number): Fields {
  const name = PRECISIONS[precision] ?? 'none';
  const estimated = (flags & FLAG_ESTIMATED) !== 0 ? ';estimated' : '';
  const stale = (flags & FLAG_STALE) !== 0 ? ';stale' : '';
  const partial = (flags & FLAG_PARTIAL) !== 0 ? ';partial' : '';
  return {
    'X-Situs-Precision': `${name}${estimated}`,
    'X-Situs-Dataset': `${dataset}${stale}${partial}`,
  };
}

function render(
  dataset: string, limit: number, precision: number, flags: number,
): NumberedHead {
  return new NumberedHead(headOf((flags & FLAG_XML) !== 0 ? XML_TYPE : JSON_TYPE, {
    [LIMIT_HEADER]: limit, ...locationFields(dataset, precision, flags),
  }), REMAINING_HEADER);
}

/** Heads, but for what remains, of the release that answers; a change of release starts anew. */
export class LookupHeads {
  #dataset = '';
  readonly #byLimit = new Map<number, (NumberedHead | undefined)[]>();

  get(dataset: string, limit: number, precision: number, flags: number): NumberedHead {
    if (dataset !== this.#dataset || this.#byLimit.size > LIMITS_MAX) {
      this.#dataset = dataset;
      this.#byLimit.clear();
    }
    let heads = this.#byLimit.get(limit);
    if (heads === undefined) {
      heads = [];
      this.#byLimit.set(limit, heads);
    }
    const index = precision * FLAGS_SPAN + (flags & FLAGS);
    return (heads[index] ??= render(dataset, limit, precision, flags));
  }
}
