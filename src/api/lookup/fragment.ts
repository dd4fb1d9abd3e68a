/**
 * Printed parts of answers. Parts that depend only on the tax area and the day are kept within a
 * bound in bytes, as are the beginnings of answers of version 60. Their ends, which say where a
 * lookup led, are not kept.
 */
import { NumberCache, OfRelease } from '../../base/tables.js';
import type { AreaRecord, StateRuleRecord } from '../../dataset/records.js';
import type { Engine } from '../../engine/engine.js';
import { fail, type Failure } from '../../failure.js';
import {
  FLAG_ESTIMATED,
  FLAG_PARTIAL,
  FLAG_STALE,
  type BodyPart,
  FLAGS_SPAN,
} from '../../pool/types.js';
import type { DateInt } from '../../tax/date.js';
import { type SitusNote, ownMarks, situsNote } from '../../wire/situs-note.js';
import {
  degreesOf,
  echoOf,
  type Format,
  jsonMembers,
  printMembers,
  type WireObject,
} from '../../wire/tree.js';
import type { WireContext, Head } from './context.js';
import type {
  LookupOutcome,
  LookupQuery,
  PostalOutcome,
  SitusOutcome,
  KnownRates,
} from '../../engine/lookup-query.js';
import { countryName } from '../../dataset/city-names.js';
import { normalizedAddress, PRECISIONS, type Precision, type Situs } from '../../engine/situs.js';
import { metadata, SUCCESS, V60_XML_CLOSE, V60_XML_OPEN } from '../../wire/response-code.js';

/** Bytes that are ready to be sent, with the answer flags that follow from the area. */
interface Fragment {
  readonly bytes: Uint8Array;
  readonly flags: number;
}

/**
 * Which part of which answer a fragment is, printed as JSON; the number after it means the same as
 * XML. They are numbers and not names, since a key is made for every answer.
 */
export const VARIANTS = { v60: 0, v60Freight: 2, row8: 4, row18: 6, row34: 8 } as const;
export type Variant = (typeof VARIANTS)[keyof typeof VARIANTS];

/** Approximate memory of a fragment's map entry, key, object and buffer. */
const OVERHEAD_BYTES = 240;
/** The key packs day, variant and area into 22 + 4 + 27 bits, exact in a double. */
const VARIANT_SPAN = 16;
const AREA_SPAN = 2 ** 27;
const DAYS_IN_MONTH = 31;
const DAYS_IN_YEAR = 372;

function dayOf(date: DateInt): number {
  const year = Math.floor(date / 10_000);
  const month = Math.floor(date / 100) % 100;
  return year * DAYS_IN_YEAR + month * DAYS_IN_MONTH + (date % 100);
}

function weightOf({ bytes }: Fragment): number {
  return bytes.length + OVERHEAD_BYTES;
}

/** Keeps the fragments of one dataset within a bound in bytes; a new dataset empties it. */
export class FragmentCache {
  readonly #generationBytesMax: number;
  readonly #kept: OfRelease<NumberCache<Fragment>>;

  constructor(bytesMax: number) {
    const generationBytesMax = bytesMax / 2;
    this.#generationBytesMax = generationBytesMax;
    this.#kept = new OfRelease(() => new NumberCache(generationBytesMax, weightOf));
  }

  get bytes(): number {
    return this.#kept.latest.weight;
  }

  /** The key of a fragment for `get` and `set`. */
  key(area: number, date: DateInt, variant: Variant, format: Format): number {
    const printed = format === 'xml' ? variant + 1 : variant;
    return (dayOf(date) * VARIANT_SPAN + printed) * AREA_SPAN + area;
  }

  get(dataset: string, key: number): Fragment | null {
    return this.#kept.get(dataset).get(key) ?? null;
  }

  set(dataset: string, key: number, fragment: Fragment): void {
    if (weightOf(fragment) > this.#generationBytesMax) return;
    this.#kept.get(dataset).set(key, fragment);
  }
}

/** The body of a successful answer in parts, with the answer flags that follow from its areas. */
export interface Rendered {
  readonly body: readonly BodyPart[];
  readonly flags: number;
}

/** An area with its rates on a day. */
export interface RatedArea {
  readonly area: AreaRecord;
  readonly date: DateInt;
  readonly rates: KnownRates;
}

/** A tax area with its rates on a day, and the rules of its state on that day. */
export interface RuledArea extends RatedArea {
  readonly rules: StateRuleRecord;
}

/** The fragment of an area: from the cache, or printed by `print` as members of an object. */
export function fragmentOf(
  context: WireContext,
  engine: Engine,
  rated: RatedArea,
  variant: Variant,
  format: Format,
  print: (ruled: RuledArea) => Uint8Array,
): Fragment | Failure {
  const { fragments } = context;
  const key = fragments.key(rated.area.id, rated.date, variant, format);
  const known = fragments.get(engine.id, key);
  if (known !== null) return known;
  const rules = engine.stateRules(rated.area.state, rated.date);
  if (rules === null) return noRules(rated);
  // Whether an answer is stale also depends on what found the area, so each answer adds that mark.
  const flags = areaFlags(rated) & ~FLAG_STALE;
  const fragment = { bytes: print({ ...rated, rules }), flags };
  fragments.set(engine.id, key, fragment);
  return fragment;
}

/** Adds the rules of the area's state; a failure where the release has none for the day. */
export function withRules(engine: Engine, rated: RatedArea): RuledArea | Failure {
  const rules = engine.stateRules(rated.area.state, rated.date);
  return rules === null ? noRules(rated) : { ...rated, rules };
}

function noRules({ area }: RatedArea): Failure {
  return fail(
    'no-result',
    `Freight, service and sourcing rules of ${area.stateName} are not held for this day.`,
  );
}

/** What may be true of the lists behind an answer, in the order in which columns name it. */
const MARKS = ['estimated', 'stale', 'partial'] as const;
type Mark = (typeof MARKS)[number];
type Marks = Pick<SitusNote, Mark>;

/** The answer flags for these marks. */
export function flagsOf({ estimated, stale, partial }: Marks): number {
  return (estimated ? FLAG_ESTIMATED : 0) | (stale ? FLAG_STALE : 0) | (partial ? FLAG_PARTIAL : 0);
}

/** The marks that the flags of an answer stand for. */
export function marksOf(flags: number): Marks {
  return {
    stale: (flags & FLAG_STALE) !== 0,
    estimated: (flags & FLAG_ESTIMATED) !== 0,
    partial: (flags & FLAG_PARTIAL) !== 0,
  };
}

/** The marks that an answer has. */
export function marksIn(marks: Marks): readonly Mark[] {
  return MARKS.filter((mark) => marks[mark]);
}

/** The answer flags that follow from an area and the day. */
export function areaFlags({ area, date, rates }: RatedArea): number {
  const estimated = area.estimated || rates.rows.some((row) => row.estimated);
  const partial = area.partial === true;
  return flagsOf({ estimated, partial, stale: area.staleAfter < date });
}

/** The `stale` flag, for an answer about a day that one of its sources does not cover yet. */
export function staleFlag({ area, date }: Pick<RatedArea, 'area' | 'date'>): number {
  return area.staleAfter < date ? FLAG_STALE : 0;
}

/** The printed member `explain`; "" where it was not asked for. */
export function explanation(
  engine: Engine,
  query: LookupQuery,
  outcome: SitusOutcome | PostalOutcome,
  format: Format,
): string {
  if (query.options.explain !== true) return '';
  return printMembers({ explain: engine.explain(outcome) }, format);
}

/** Like `isFailure`, for printed answers and their parts; faster, as explained there. */
export function isUnprinted(printed: Rendered | Fragment | Failure): printed is Failure {
  return (printed as Partial<Failure>).failure !== undefined;
}

/** Like `isFailure`, for the outcome of a lookup; faster, as explained there. */
export function isRefused(outcome: LookupOutcome): outcome is Failure {
  return (outcome as Partial<Failure>).failure !== undefined;
}

const BODY_OPEN: Readonly<Record<Format, string>> = { json: '{', xml: V60_XML_OPEN };

/** The end of a JSON head; members of `situs` that belong to one answer are put before it. */
const SITUS_CLOSE = '}},';

/** The beginning of an answer: the response code and the member `situs`. */
function headText(baseUrl: string, note: SitusNote, format: Format): string {
  return (
    BODY_OPEN[format] +
    printMembers(metadata(SUCCESS, baseUrl, situsNote(note)), format) +
    (format === 'json' ? ',' : '')
  );
}

/** The beginning of an answer without assumption, border or unruled code; it is printed once. */
function plainHead(
  { baseUrl, heads }: WireContext,
  dataset: string,
  precision: Precision,
  flags: number,
  format: Format,
): Head {
  const kept = heads.get(dataset);
  const key = (PRECISIONS.indexOf(precision) * FLAGS_SPAN + flags) * 2 + (format === 'xml' ? 1 : 0);
  const known = kept.get(key);
  if (known !== undefined) return known;
  const note = { precision, dataset, ...marksOf(flags), assumed: null, border: null, unruled: [] };
  const whole = Buffer.from(headText(baseUrl, note, format));
  const head = { whole, open: whole.subarray(0, whole.length - SITUS_CLOSE.length) };
  kept.set(key, head);
  return head;
}

/** The beginning of an answer, in parts. */
export function headOf(
  context: WireContext,
  engine: Engine,
  outcome: SitusOutcome,
  flags: number,
  code: string,
  format: Format,
): readonly BodyPart[] {
  const { precision, assumed = null } = outcome.situs;
  const border = engine.border(outcome);
  const isPlain = assumed === null && border === null && code === '';
  if (isPlain) return [plainHead(context, engine.id, precision, flags, format).whole];
  const own = { assumed, border, unruled: code === '' ? [] : [code] };
  if (format === 'xml') {
    const note = { precision, dataset: engine.id, ...marksOf(flags), ...own };
    return [headText(context.baseUrl, note, format)];
  }
  const { open } = plainHead(context, engine.id, precision, flags, format);
  return [open, `,${jsonMembers(ownMarks(own))}${SITUS_CLOSE}`];
}

/** The member `addressDetail`: where the lookup led. Coordinates are echoed as they were given. */
export function addressDetail(query: LookupQuery, { situs, area }: SitusOutcome): WireObject {
  const point = query.kind === 'point';
  const geoLat = point ? echoOf(query.latDegrees) : degreesOf(situs.lat);
  const geoLng = point ? echoOf(query.lngDegrees) : degreesOf(situs.lng);
  const incorporated = String(area.incorporated);
  const short = { normalizedAddress: normalizedAddress(situs), incorporated, geoLat, geoLng };
  const isLong = query.options.addressDetailExtended;
  return isLong ? { ...short, address: components(situs, area) } : short;
}

function components(situs: Situs, area: AreaRecord): WireObject {
  return {
    countryCode: area.country,
    countryName: countryName(area.country),
    stateCode: area.state,
    state: area.stateName,
    county: area.countyName,
    city: situs.city,
    street: situs.street,
    postalCode: situs.postalCode,
    houseNumber: situs.houseNumber,
  };
}

/** The end of a body: `addressDetail`, and the explanation where one was asked for. */
export function bodyEnd(detail: WireObject, explain: string, format: Format): string {
  const member = printMembers({ addressDetail: detail }, format);
  if (format === 'xml') return member + explain + V60_XML_CLOSE;
  return `,${member}${explain === '' ? '' : `,${explain}`}}`;
}
