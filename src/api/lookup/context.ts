/** What all answers of a worker share: settings, and caches of printed text for the release. */
import { bytesOfParts } from '../../base/byte-writer.js';
import { OfRelease, RecentCache } from '../../base/tables.js';
import type { Engine } from '../../engine/engine.js';
import type { Precision } from '../../engine/situs.js';
import { FragmentCache } from './fragment.js';
import type { PinnedRelease, Answer } from '../../pool/types.js';
import { dateSlot } from '../../tax/date.js';
import { FailureBodies } from '../../wire/failure-body.js';
import type { Format } from '../../wire/tree.js';

/** Approximate memory of the map entry, key, buffer and other objects of an answer. */
const ANSWER_OVERHEAD_BYTES = 400;

/** An answer whose body is one piece. */
interface WholeAnswer extends Answer {
  readonly body: readonly [Uint8Array];
}

/**
 * Keeps whole answers to plain postal lookups. There are about forty thousand ZIPs, so a ZIP asked
 * once is likely to be asked again, and the answer changes only with the dataset and the date.
 */
class PostalCache {
  readonly #generationBytesMax: number;
  #kept: RecentCache<number, WholeAnswer>;
  #dataset = '';
  #slot = -1;

  /** `bytesMax` bounds both generations of the cache together. */
  constructor(bytesMax: number) {
    this.#generationBytesMax = bytesMax / 2;
    this.#kept = this.#empty();
  }

  /** A ZIP, version and format as one number. */
  key(zip: number, version: number, format: Format): number {
    return (zip * 128 + version) * 2 + (format === 'xml' ? 1 : 0);
  }

  get(dataset: string, nowMs: number, key: number): Answer | null {
    const slot = dateSlot(nowMs);
    if (dataset !== this.#dataset || slot !== this.#slot) {
      this.#dataset = dataset;
      this.#slot = slot;
      this.#kept = this.#empty();
      return null;
    }
    return this.#kept.get(key) ?? null;
  }

  /**
   * Keeps an answer and returns it with a body of one piece. Call it after a `get` that found none.
   */
  set(key: number, answer: Answer): Answer {
    const whole: WholeAnswer = { ...answer, body: [bytesOfParts(answer.body)] };
    this.#kept.set(key, whole);
    return whole;
  }

  #empty(): RecentCache<number, WholeAnswer> {
    return new RecentCache(
      this.#generationBytesMax,
      ({ body: [bytes] }) => bytes.length + ANSWER_OVERHEAD_BYTES,
    );
  }
}

export interface WireSettings {
  /** Prefix of links in bodies, without a trailing slash. */
  readonly baseUrl: string;
  /** Weakest precision that is answered; anything weaker is refused with 109. */
  readonly precisionMin: Precision;
  /** Whether a product code without a rule is refused. */
  readonly refuseUnruled: boolean;
  readonly fragmentBytesMax: number;
  /** Bound of the memory for whole postal answers. */
  readonly postalBytesMax: number;
  /**
   * Opens a release other than that of the task, for runs that stay with the release they began
   * with.
   */
  readonly open: (release: PinnedRelease) => Engine;
  /** Called with the exception behind a 106; it must not throw. */
  readonly report: (error: unknown) => void;
}

/** Bound of the memory for printed product members in each generation: a few thousand members. */
const PRODUCT_BYTES_MAX = 4 * 1_048_576;
/** Memory of a kept product member beside its printed bytes. */
const PRODUCT_OVERHEAD_BYTES = 300;

/** The printed member `productDetail`. */
export interface ProductMember {
  readonly bytes: Uint8Array;
  /** The product code where it has no rule although tax is levied there; otherwise "". */
  readonly unruled: string;
}

/** Columns of a tax area on a day, printed in the dialect of a file. */
export interface AreaCells {
  /** The cells of all columns of the area except the note. */
  readonly cells: string;
  /** The text of the note that applies to every row of the area. */
  readonly note: string;
  /** That note, printed as a cell. */
  readonly noteCell: string;
}

/** The printed beginning of a v60 answer. */
export interface Head {
  readonly whole: Uint8Array;
  /** For JSON: the part of `whole` before the members of `situs` that belong to a single answer. */
  readonly open: Uint8Array;
}

export interface WireContext extends WireSettings {
  /**
   * Beginnings of v60 answers by precision, flags and format. They are few, since none contains
   * anything about a single location.
   */
  readonly heads: OfRelease<Map<number, Head>>;
  readonly fragments: FragmentCache;
  readonly postal: PostalCache;
  readonly failures: FailureBodies;
  /** Product members by everything that they depend on. */
  readonly products: OfRelease<RecentCache<string, ProductMember>>;
  /** Cells of areas by dialect, then by tax area and day. */
  readonly columns: OfRelease<Map<string, RecentCache<number, AreaCells>>>;
}

export const WIRE_DEFAULTS: WireSettings = {
  baseUrl: '',
  precisionMin: 'city',
  refuseUnruled: false,
  fragmentBytesMax: 48 * 1_048_576,
  postalBytesMax: 48 * 1_048_576,
  open: ({ id }) => {
    throw new Error(`release ${id} cannot be opened here`);
  },
  report: () => undefined,
};

/** Settings that answers depend on. */
type Answering = Pick<WireSettings, 'baseUrl' | 'precisionMin' | 'refuseUnruled'>;

/** The context that was made last for files with the settings of other servers. */
let others: { readonly of: WireContext; readonly context: WireContext } | null = null;

function isWith(context: Answering, { baseUrl, precisionMin, refuseUnruled }: Answering): boolean {
  return (
    context.baseUrl === baseUrl &&
    context.precisionMin === precisionMin &&
    context.refuseUnruled === refuseUnruled
  );
}

/**
 * The context of a worker for a file that is answered with the settings of another server, since
 * printed text that is kept depends on settings too. Only one is kept, since all servers of a fleet
 * have the same settings.
 */
export function wireWith(context: WireContext, settings: Answering | undefined): WireContext {
  if (settings === undefined || isWith(context, settings)) return context;
  if (others === null || others.of !== context || !isWith(others.context, settings)) {
    const { baseUrl, precisionMin, refuseUnruled } = settings;
    const { fragmentBytesMax, postalBytesMax, open, report } = context;
    others = {
      of: context,
      context: openWire({
        baseUrl,
        precisionMin,
        refuseUnruled,
        fragmentBytesMax,
        postalBytesMax,
        open,
        report,
      }),
    };
  }
  return others.context;
}

/** Makes the context of a worker, once. */
export function openWire(settings: Partial<WireSettings> = {}): WireContext {
  const full = { ...WIRE_DEFAULTS, ...settings };
  return {
    ...full,
    heads: new OfRelease(() => new Map()),
    fragments: new FragmentCache(full.fragmentBytesMax),
    postal: new PostalCache(full.postalBytesMax),
    failures: new FailureBodies(full.baseUrl),
    products: new OfRelease(
      () =>
        new RecentCache(PRODUCT_BYTES_MAX, ({ bytes }) => bytes.length + PRODUCT_OVERHEAD_BYTES),
    ),
    columns: new OfRelease(() => new Map()),
  };
}
