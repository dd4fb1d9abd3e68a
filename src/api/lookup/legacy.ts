/** What legacy versions share: rows in an envelope, for one place or every part of a ZIP. */
import type { Engine } from '../../engine/engine.js';
import type { LookupQuery, PostalOutcome, SitusOutcome } from '../../engine/query.js';
import { isFailure, type Failure } from '../../failure.js';
import type { WireContext } from './context.js';
import type { Variant } from './fragment-cache.js';
import { fragmentOf, type RatedArea, type RuledArea } from './fragment.js';
import { jsonValue } from '../../wire/json.js';
import { legacyClose, legacyOpen } from '../../wire/legacy-envelope.js';
import type { Rendered } from './rendered.js';
import type { WireObject } from '../../wire/tree.js';
import type { ApiVersion, Format } from '../../wire/version.js';
import { xmlElement } from '../../wire/xml.js';

/** The fields of a version's rows after geoPostalCode and geoCity. */
export interface RowShape {
  /** Names the cached fragments of these fields. */
  readonly variant: Variant;
  readonly fields: (ruled: RuledArea) => WireObject;
}

/** What makes one legacy version differ from another. */
export interface LegacyVersion {
  readonly version: ApiVersion;
  readonly row: RowShape;
  /** Printed members after the rows; '' for none. */
  after(
    engine: Engine, query: LookupQuery, outcome: SitusOutcome | PostalOutcome, format: Format,
  ): string;
}

/** A row's place: its area and the two fields that are the request's own. */
export interface RowPlace extends RatedArea {
  readonly zip: string;
  readonly city: string;
}

const PLUS_FOUR = /^\d{5}-\d{4}$/;

/** The rows of an outcome. */
export function placesOf(outcome: SitusOutcome | PostalOutcome): readonly RowPlace[] {
  if (outcome.kind === 'postal') return outcome.rows;
  const { situs, area, date, rates } = outcome;
  const zip = PLUS_FOUR.test(situs.postalCode) ? situs.postalCode.slice(0, 5) : situs.postalCode;
  return [{ area, date, rates, zip, city: (area.placeName || situs.city).toUpperCase() }];
}

/** The rows as bytes; `element` is a row's name in XML. */
export function renderRows(
  context: WireContext, engine: Engine, places: readonly RowPlace[], shape: RowShape,
  format: Format, element: string,
): Rendered | Failure {
  const body: Uint8Array[] = [];
  const close = format === 'json' ? '}' : `</${element}>`;
  let flags = 0;
  let before = '';
  for (const place of places) {
    const fragment = fragmentOf(context, engine, place, shape.variant, format, shape.fields);
    if (isFailure(fragment)) return fragment;
    body.push(Buffer.from(before + rowOpen(place, format, element), 'utf8'), fragment.bytes);
    flags |= fragment.flags;
    before = format === 'json' ? '},' : close;
  }
  if (places.length > 0) body.push(Buffer.from(close, 'utf8'));
  return { body, flags };
}

function rowOpen({ zip, city }: RowPlace, format: Format, element: string): string {
  return format === 'json'
    ? `{"geoPostalCode":${jsonValue(zip)},"geoCity":${jsonValue(city)},`
    : `<${element}>${xmlElement('geoPostalCode', zip)}${xmlElement('geoCity', city)}`;
}

/** The bytes of an answer in a legacy version. */
export function renderLegacy(
  context: WireContext, engine: Engine, query: LookupQuery,
  outcome: SitusOutcome | PostalOutcome, format: Format, legacy: LegacyVersion,
): Rendered | Failure {
  const places = placesOf(outcome);
  const rows = renderRows(context, engine, places, legacy.row, format, 'response');
  if (isFailure(rows)) return rows;
  const open = Buffer.from(legacyOpen(legacy.version, format), 'utf8');
  const after = legacy.after(engine, query, outcome, format);
  const close = Buffer.from(legacyClose(after, format), 'utf8');
  return { body: [open, ...rows.body, close], flags: rows.flags };
}
