/** Passes records of a boundary file on to the shards, and collects the jurisdictions they name. */
import { DATE_MIN, type DateInt } from '../../tax/date.js';
import { type BoundaryRecord, boundaryRange } from '../source/sst-boundary.js';
import type { SpillWriter } from './spill.js';
import type { SideWriter } from './stated.js';

/** Jurisdictions as a boundary file names them. Whether they are known is decided later. */
export interface StatedTuple {
  /** Two digits. */
  readonly state: string;
  /** Three and five digits; "" where the record names none. */
  readonly county: string;
  readonly place: string;
  /** Codes, ascending. */
  readonly districts: readonly string[];
  /** Whether the state's own tax applies. */
  readonly stateTaxed: boolean;
  /** The ZIP, where it may decide on the county or a layer's district; 0 for several. */
  readonly zip: number;
  /** What alone the record is used for; "" for all that it names. */
  readonly alone: '' | NonNullable<BoundaryRecord['alone']>;
}

/** Numbers of records by the kind they were kept as. */
export interface RecordCounts {
  sides: number;
  zip9: number;
  zip5: number;
}

/** Records that lead to one tax area. */
export interface TupleRows extends RecordCounts {
  /** Number of records of which only the ZIP is used. */
  said: number;
}

/** The outcome for a record: the kind it was kept as, or why it was not. */
type Kept =
  | { readonly kind: 'kept'; readonly as: keyof RecordCounts }
  | { readonly kind: 'left'; readonly why: string }
  | { readonly kind: 'unread' };

const NO_CODES: readonly string[] = [];
const UNREAD: Kept = { kind: 'unread' };

/** The ZIP of a record, 0 where it has none or several. */
function zipOf({ kind, zip, zipLow, zipHigh }: BoundaryRecord): number {
  if (kind === 'address') return Number(zip);
  return zipLow === zipHigh ? zipLow : 0;
}

/** The records of one file. */
export class RecordWriter {
  readonly tuples: StatedTuple[] = [];
  /** Numbers of kept records by tuple. */
  readonly rows: TupleRows[] = [];
  /** The last day of any record. */
  lastDay: DateInt = DATE_MIN;
  readonly #ids = new Map<string, number>();
  readonly #spill: SpillWriter;
  readonly #sides: SideWriter;
  readonly #byZip: boolean;

  /** `byZip`: whether there are districts that consist of ZIPs. */
  constructor(spill: SpillWriter, sides: SideWriter, byZip: boolean) {
    this.#spill = spill;
    this.#sides = sides;
    this.#byZip = byZip;
  }

  /** Adds a record of a state's file; `state` is its two letters. */
  add(record: BoundaryRecord, state: string, source: string): Kept {
    const { kind, begin, end } = record;
    if (end < begin) return { kind: 'left', why: 'that end before they begin' };
    if (kind !== 'address' && record.zipHigh < record.zipLow) return UNREAD;
    if (end > this.lastDay) this.lastDay = end;
    const area = this.#tuple(record);
    if (kind !== 'address') {
      if (!this.#spill.zips({ ...record, kind, state, area })) return UNREAD;
      this.rows[area]![kind] += 1;
      return { kind: 'kept', as: kind };
    }
    const range = boundaryRange(record, area, state, source);
    if (
      typeof range !== 'string' &&
      range !== null &&
      this.#sides.add(this.#spill, range, false, area)
    ) {
      this.rows[area]!.sides += 1;
      return { kind: 'kept', as: 'sides' };
    }
    // Doors of the ZIP whose area differs make the ZIP divided, even if the record is unusable
    // otherwise.
    if (Number(record.zip) > 0) {
      this.#spill.said(state, Number(record.zip), { begin, end, area });
      this.rows[area]!.said += 1;
    }
    return typeof range === 'string' ? { kind: 'left', why: range } : UNREAD;
  }

  #tuple(record: BoundaryRecord): number {
    const { stateFips: state, county, place, stateTaxed, alone = '' } = record;
    const districts =
      record.districts.length === 0
        ? NO_CODES
        : [...new Set(record.districts.map(({ code }) => code))].sort();
    const zip = county === '' || this.#byZip ? zipOf(record) : 0;
    const signs = `${stateTaxed ? 1 : 0}${alone}`;
    const key = `${state}|${county}|${place}|${districts.join()}|${signs}|${zip}`;
    const known = this.#ids.get(key);
    if (known !== undefined) return known;
    const id =
      this.tuples.push({
        state,
        county,
        place,
        districts,
        stateTaxed,
        zip,
        alone,
      }) - 1;
    this.rows.push({ sides: 0, zip9: 0, zip5: 0, said: 0 });
    this.#ids.set(key, id);
    return id;
  }
}
