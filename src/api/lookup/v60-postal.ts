/** Version 60 by postal code alone: the rows of version 50 in the body of that time. */
import type { Engine } from '../../engine/engine.js';
import type { LookupQuery, PostalOutcome } from '../../engine/query.js';
import { isFailure, type Failure } from '../../failure.js';
import { NOT_GEOCODED } from './address-detail.js';
import type { WireContext } from './context.js';
import { explanation } from './explanation.js';
import { jsonMembers } from '../../wire/json.js';
import { renderRows } from './legacy.js';
import type { Rendered } from './rendered.js';
import { SUCCESS } from '../../wire/response-code.js';
import { ROW_34 } from './v40.js';
import { V60_XML_CLOSE, V60_XML_OPEN } from '../../wire/v60-envelope.js';
import type { Format } from '../../wire/version.js';
import { xmlMembers } from '../../wire/xml.js';

const HEAD = { version: 'v60', rCode: SUCCESS.code };
const TAIL = { addressDetail: NOT_GEOCODED };

const OPEN: Readonly<Record<Format, Uint8Array>> = {
  json: Buffer.from(`{${jsonMembers(HEAD)},"results":[`),
  xml: Buffer.from(V60_XML_OPEN + xmlMembers(HEAD)),
};
const CLOSE: Readonly<Record<Format, Uint8Array>> = {
  json: Buffer.from(`],${jsonMembers(TAIL)}}`),
  xml: Buffer.from(xmlMembers(TAIL) + V60_XML_CLOSE),
};

function closeWith(explain: string, format: Format): string {
  return format === 'json'
    ? `],${jsonMembers(TAIL)},${explain}}` : xmlMembers(TAIL) + explain + V60_XML_CLOSE;
}

/** The bytes of a postal list. */
export function renderV60Postal(
  context: WireContext, engine: Engine, query: LookupQuery, outcome: PostalOutcome,
  format: Format,
): Rendered | Failure {
  const rows = renderRows(context, engine, outcome.rows, ROW_34, format, 'results');
  if (isFailure(rows)) return rows;
  const explain = explanation(engine, query, outcome, format);
  const close = explain === '' ? CLOSE[format] : closeWith(explain, format);
  return { body: [OPEN[format], ...rows.body, close], flags: rows.flags };
}
