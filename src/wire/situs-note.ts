/**
 * The member `situs`, which says what an answer is based on: an extension of this service in v60,
 * carts and files.
 */
import { Piece, type ByteWriter } from '../base/byte-writer.js';
import { OfRelease, RecentCache } from '../base/tables.js';
import type { Precision, RateRange } from '../engine/situs.js';
import type { Border } from '../engine/lookup-query.js';
import { jsonMembers, rateOf, type WireObject } from './tree.js';

export interface SitusNote {
  readonly precision: Precision;
  /** The release that answered. */
  readonly dataset: string;
  /** Whether a list behind the answer was published for an earlier time. */
  readonly stale: boolean;
  /** Whether a figure is an estimate. */
  readonly estimated: boolean;
  /**
   * Whether the lists behind the answer are known to lack districts, in which the rate is higher.
   */
  readonly partial: boolean;
  readonly assumed: RateRange | null;
  readonly border: Border | null;
  /** Product codes without any rule, which were taxed as general goods. */
  readonly unruled: readonly string[];
}

/**
 * The members about one place or product instead of the release; those that do not apply are
 * absent.
 */
export function ownMarks({
  assumed,
  border,
  unruled,
}: Pick<SitusNote, 'assumed' | 'border' | 'unruled'>): WireObject {
  return {
    ...(assumed === null
      ? {}
      : {
          assumed: {
            lowest: rateOf(assumed.lowest),
            highest: rateOf(assumed.highest),
            ...(assumed.isOpen ? { unknown: true } : {}),
          },
        }),
    ...(border === null
      ? {}
      : {
          border: {
            metres: border.metres,
            rate: border.rate === null ? null : rateOf(border.rate),
          },
        }),
    ...(unruled.length === 0 ? {} : { unruled }),
  };
}

/** The members of `situs`; those that do not apply are absent. */
export function situsNote(note: SitusNote): WireObject {
  const { precision, dataset, stale, estimated, partial } = note;
  return {
    precision,
    dataset,
    ...(stale ? { stale } : {}),
    ...(estimated ? { estimated } : {}),
    ...(partial ? { partial } : {}),
    ...ownMarks(note),
  };
}

/** The content of `situs` in answers of carts. */
type CartNote = Omit<SitusNote, 'border'>;

/** How many texts are kept, or up to twice as many. Products without rules are few and recur. */
const NOTES_MAX = 1_024;
/** For more products than this, the text is made each time. */
const NOTE_CODES_MAX = 8;

/** The printed member as text and as bytes. */
interface Printed {
  readonly text: string;
  readonly piece: Piece;
}

/** Texts for answers of the present release. */
const NOTES = new OfRelease(() => new RecentCache<string, Printed>(NOTES_MAX));

/** The member `situs` of an answer of carts as JSON, without the comma before it. */
export function situsJson(marks: CartNote): string {
  return known(marks)?.text ?? printed(marks);
}

/** Writes that member. */
export function writeSitus(into: ByteWriter, marks: CartNote): void {
  const note = known(marks);
  if (note === null) into.text(printed(marks));
  else into.piece(note.piece);
}

function rangeKey({ lowest, highest, isOpen }: RateRange): string {
  return `;${lowest}-${highest}${isOpen ? '+' : ''}`;
}

/** The kept member; null for an answer that names many products. */
function known(marks: CartNote): Printed | null {
  const { precision, dataset, stale, estimated, partial, assumed, unruled } = marks;
  if (unruled.length > NOTE_CODES_MAX) return null;
  const notes = NOTES.get(dataset);
  const key =
    `${precision}${stale ? ';stale' : ''}${estimated ? ';estimated' : ''}` +
    `${partial ? ';partial' : ''}${assumed === null ? '' : rangeKey(assumed)}` +
    (unruled.length === 0 ? '' : `;${unruled.join()}`);
  const before = notes.get(key);
  if (before !== undefined) return before;
  const text = printed(marks);
  const note = { text, piece: new Piece(text) };
  notes.set(key, note);
  return note;
}

function printed(marks: CartNote): string {
  return jsonMembers({ situs: situsNote({ ...marks, border: null }) });
}
