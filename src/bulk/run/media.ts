/** Formats by their media types, and the one that an Accept field asks for (RFC 9110, 12.5.1). */
import Negotiator from 'negotiator';
import type { BulkFormat } from '../row/job.js';

export const CSV_TYPE = 'text/csv';
export const NDJSON_TYPE = 'application/x-ndjson';

/** A map, since callers write the name: a member of every object is none of it. */
const FORMAT_OF_TYPE: ReadonlyMap<string, BulkFormat> = new Map([
  [CSV_TYPE, 'csv'], [NDJSON_TYPE, 'ndjson'], ['application/ndjson', 'ndjson'],
]);

/** Parameters that a client may name with a type; they tell nothing new. */
const PARAMETERS = ['', ';charset=utf-8', ';header=present', ';header=present;charset=utf-8'];

function withParameters(type: string): readonly string[] {
  return PARAMETERS.map((parameters) => type + parameters);
}

const NDJSON_TYPES = [NDJSON_TYPE, 'application/ndjson'].flatMap(withParameters);

/** What an input can be answered as, the likest first. */
const OUTPUTS: Readonly<Record<BulkFormat, readonly string[]>> = {
  csv: [...withParameters(CSV_TYPE), ...NDJSON_TYPES], ndjson: NDJSON_TYPES,
};

/** The format of a media type without parameters, in lower case. */
export function formatOfType(type: string): BulkFormat | null {
  return FORMAT_OF_TYPE.get(type) ?? null;
}

/** The output that a client likes best; null for none. No field accepts everything. */
export function outputAccepted(field: string, input: BulkFormat): BulkFormat | null {
  const headers = field === '' ? {} : { accept: field };
  const types = OUTPUTS[input];
  const [best] = new Negotiator({ headers }).mediaTypes([...types]);
  return best === undefined ? null : formatOfType(best.replace(/;.*$/, ''));
}

/** Whether a client takes gzip by name: no field accepts plain bytes alone. */
export function gzipAccepted(field: string): boolean {
  const headers = { 'accept-encoding': field };
  return field !== '' && new Negotiator({ headers }).encodings(['gzip']).includes('gzip');
}
