/** What a worker's answers share: settings, and what is kept in print of the release. */
import { bytesOfParts } from '../../base/byte-writer.js';
import { OfRelease, RecentCache } from '../../base/tables.js';
import type { Engine } from '../../engine/engine.js';
import type { Precision } from '../../engine/situs.js';
import { FragmentCache } from './fragment.js';
import type { PinnedRelease, Answer } from '../../pool/types.js';
import { dateSlot } from '../../tax/date.js';
import { FailureBodies } from '../../wire/failure-body.js';
import type { Format } from '../../wire/tree.js';

/** Map entry, key, buffer and the objects around the bytes of an answer, about. */
const ANSWER_OVERHEAD_BYTES = 400;

/** An answer in one piece. */
interface WholeAnswer extends Answer {
  readonly body: readonly [Uint8Array];
}

/**
 * Whole answers to plain postal lookups. There are some forty thousand ZIPs, so what was asked
 * once is likely asked again, and the answer changes with the dataset and the date alone.
 */
class PostalCache {
  readonly #generationBytesMax: number;
  #kept: RecentCache<number, WholeAnswer>;
  #dataset = '';
  #slot = -1;

  /** `bytesMax` bounds both generations together. */
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

  /** Keeps an answer; its parts become one piece. To be called after a `get` that found none. */
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
  /** Weakest precision answered; anything weaker is refused with 109. */
  readonly precisionMin: Precision;
  /** Whether a product code without a rule is refused. */
  readonly refuseUnruled: boolean;
  readonly fragmentBytesMax: number;
  /** Bytes of whole postal answers kept. */
  readonly postalBytesMax: number;
  /** Opens a release other than a task's own, for runs that keep to the one they began with. */
  readonly open: (release: PinnedRelease) => Engine;
  /** Told of an exception behind a 106; it must not throw. */
  readonly report: (error: unknown) => void;
}

/** Bytes of printed product members kept in a generation, a few thousand members. */
const PRODUCT_BYTES_MAX = 4 * 1_048_576;
/** Bytes that a kept product member takes beside those that are printed. */
const PRODUCT_OVERHEAD_BYTES = 300;

/** The printed member `productDetail`. */
export interface ProductMember {
  readonly bytes: Uint8Array;
  /** The code where no rule is held for it though tax is levied there; "" else. */
  readonly unruled: string;
}

/** What is known of an area on a day, printed in the dialect of a file. */
export interface AreaCells {
  /** All columns of the area but the note. */
  readonly cells: string;
  /** What its note says of any row. */
  readonly note: string;
  /** Its note as a cell. */
  readonly noteCell: string;
}

/** The beginning of a v60 answer in print. */
export interface Head {
  readonly whole: Uint8Array;
  /** As JSON, up to where members of `situs` that belong to one answer follow. */
  readonly open: Uint8Array;
}

export interface WireContext extends WireSettings {
  /** Beginnings of v60 answers, by what they rest on; few, since none tells of its own spot. */
  readonly heads: OfRelease<Map<number, Head>>;
  readonly fragments: FragmentCache;
  readonly postal: PostalCache;
  readonly failures: FailureBodies;
  /** Product members by all that they depend on. */
  readonly products: OfRelease<RecentCache<string, ProductMember>>;
  /** Columns of rows by dialect, then by tax area and day. */
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

/** The context of files of other servers that was used last. */
let others: { readonly of: WireContext; readonly context: WireContext } | null = null;

function isWith(context: Answering, { baseUrl, precisionMin, refuseUnruled }: Answering): boolean {
  return (
    context.baseUrl === baseUrl &&
    context.precisionMin === precisionMin &&
    context.refuseUnruled === refuseUnruled
  );
}

/**
 * The context of a worker for a file that is answered with the settings of another server: what is
 * kept in print is of settings too. One is kept, since the servers of a fleet have the same ones.
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
