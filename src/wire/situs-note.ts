/** What an answer rests on, in its body: an extension of this service in v60, carts and files. */
import { Piece, type ByteWriter } from '../base/byte-writer.js';
import { OfRelease, RecentCache } from '../base/tables.js';
import type { Precision, RateRange } from '../engine/situs.js';
import type { Border } from '../engine/lookup-query.js';
import { jsonMembers, rateOf, type WireObject } from './tree.js';

export interface SitusNote {
  readonly precision: Precision;
  /** The release that answered. */
  readonly dataset: string;
  /** A list behind the answer was published for an earlier time. */
  readonly stale: boolean;
  /** A figure is an estimate. */
  readonly estimated: boolean;
  /** The lists behind the answer are known to lack districts, where the rate is higher. */
  readonly partial: boolean;
  readonly assumed: RateRange | null;
  readonly border: Border | null;
  /** Product codes that no rule is held for: taxed as general goods. */
  readonly unruled: readonly string[];
}

/** Members that tell of one spot or product, and not of the release; what does not apply is out. */
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

/** The member's own members; what does not apply is left out. */
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

/** What the answer of carts rests on. */
type CartNote = Omit<SitusNote, 'assumed' | 'border'>;

/** Texts kept, once to twice as many: products without rules are few, and named again and again. */
const NOTES_MAX = 1_024;
/** Of more products the text is made each time. */
const NOTE_CODES_MAX = 8;

/** A member as text and as bytes. */
interface Printed {
  readonly text: string;
  readonly piece: Piece;
}

/** What answers of the release say. */
const NOTES = new OfRelease(() => new RecentCache<string, Printed>(NOTES_MAX));

/** The member of an answer of carts as JSON, without the comma before it. */
export function situsJson(marks: CartNote): string {
  return known(marks)?.text ?? printed(marks);
}

/** Writes it. */
export function writeSitus(into: ByteWriter, marks: CartNote): void {
  const note = known(marks);
  if (note === null) into.text(printed(marks));
  else into.piece(note.piece);
}

/** The member of an answer that names few products. */
function known(marks: CartNote): Printed | null {
  const { precision, dataset, stale, estimated, partial, unruled } = marks;
  if (unruled.length > NOTE_CODES_MAX) return null;
  const notes = NOTES.get(dataset);
  const key =
    `${precision}${stale ? ';stale' : ''}${estimated ? ';estimated' : ''}` +
    `${partial ? ';partial' : ''}${unruled.length === 0 ? '' : `;${unruled.join()}`}`;
  const before = notes.get(key);
  if (before !== undefined) return before;
  const text = printed(marks);
  const note = { text, piece: new Piece(text) };
  notes.set(key, note);
  return note;
}

function printed(marks: CartNote): string {
  return jsonMembers({ situs: situsNote({ ...marks, assumed: null, border: null }) });
}
