/**
 * Reads what a bulk request asks for: formats, packing and options. Formats are named by media
 * types; the output is chosen by the Accept field (RFC 9110, 12.5.1).
 */
import Negotiator from 'negotiator';
import { isFailure, type Failure } from '../../failure.js';
import { GRANT_ALL } from '../../pool/types.js';
import { CART_PARAMETERS, checkCartParameters } from '../row/cart-parameters.js';
import { DELIMITERS, type Delimiter } from '../row/dialect.js';
import type { BulkFormat, BulkKind, Defaults } from '../row/chunk-payload.js';
import { cellReader, noRequest } from '../row/row-parameters.js';
import { SHARED_PARAMETERS } from '../../api/lookup/parameter-table.js';
import { readKept, parseParameters } from '../../api/lookup/query.js';
import { failureMessage } from '../../wire/response-code.js';
import { limited, problem, type Problem, type ProblemStatus } from '../../base/problem.js';

const CSV_TYPE = 'text/csv';
export const NDJSON_TYPE = 'application/x-ndjson';

/** A map, since callers choose the names, which must not match members that every object has. */
const FORMAT_OF_TYPE: ReadonlyMap<string, BulkFormat> = new Map([
  [CSV_TYPE, 'csv'],
  [NDJSON_TYPE, 'ndjson'],
  ['application/ndjson', 'ndjson'],
]);

/** Parameters that a client may add to a media type without changing its meaning. */
const PARAMETERS = ['', ';charset=utf-8', ';header=present', ';header=present;charset=utf-8'];

function withParameters(type: string): readonly string[] {
  return PARAMETERS.map((parameters) => type + parameters);
}

const NDJSON_TYPES = [NDJSON_TYPE, 'application/ndjson'].flatMap(withParameters);

/** The output formats that each input can be answered in, the most similar one first. */
const OUTPUTS: Readonly<Record<BulkFormat, readonly string[]>> = {
  csv: [...withParameters(CSV_TYPE), ...NDJSON_TYPES],
  ndjson: NDJSON_TYPES,
};

/** The Content-Type of an answer. */
export function typeOf(format: BulkFormat): string {
  return format === 'csv' ? `${CSV_TYPE}; charset=utf-8` : NDJSON_TYPE;
}

/** The format of a media type, given without parameters and in lower case. */
export function formatOfType(type: string): BulkFormat | null {
  return FORMAT_OF_TYPE.get(type) ?? null;
}

/**
 * The output format that a client prefers; null where it accepts none. A client without an Accept
 * field accepts every format.
 */
export function outputAccepted(field: string, input: BulkFormat): BulkFormat | null {
  const headers = field === '' ? {} : { accept: field };
  const types = OUTPUTS[input];
  const [best] = new Negotiator({ headers }).mediaTypes([...types]);
  return best === undefined ? null : formatOfType(best.replace(/;.*$/, ''));
}

/** Delimiters by names that need no escaping in a query, and by the characters themselves. */
const DELIMITER_OF_NAME: ReadonlyMap<string, Delimiter> = new Map([
  ['comma', ','],
  ['semicolon', ';'],
  ['tab', '\t'],
  ['pipe', '|'],
  ...DELIMITERS.map((delimiter) => [delimiter, delimiter] as const),
]);

/** The refusal while no dataset is active. */
export const NO_RATES = 'No rates are loaded now; try again later.';

/** A kept release that answers every row, and the moment that "today" is derived from. */
export interface KeptRun {
  readonly dataset: string;
  /** Milliseconds since 1970; null for the beginning of the run. */
  readonly atMs: number | null;
}

export interface BulkRequest {
  readonly kind: BulkKind;
  readonly input: BulkFormat;
  readonly output: BulkFormat;
  readonly gzipIn: boolean;
  readonly gzipOut: boolean;
  /** Whether a refused row refuses the whole file. */
  readonly strict: boolean;
  /** Whether nothing is sent before the upload is complete. */
  readonly spool: boolean;
  readonly map: readonly string[];
  readonly delimiter: Delimiter | null;
  readonly defaults: Defaults;
  /** Absent for the release that is active when the run begins. */
  readonly kept?: KeptRun;
}

/** The refusal of something larger than its limit, in bytes unless `may` says otherwise. */
export function tooLarge(what: string, limit: number, may = `have ${limit} bytes`): Problem {
  return limited(413, `${what} may ${may}.`, limit);
}

/** The refusal of one part of the request. */
export function refused(status: ProblemStatus, detail: string, location: string): Problem {
  return problem(status, detail, [{ location, message: detail }]);
}

/** A refusal with the part of the request that it is about; null for none. */
export function ofPart(refusal: Problem | null, location: string): Problem | null {
  return refusal === null ? null : refused(refusal.status, refusal.detail, location);
}

type Header = (name: string) => string;

function inputOf(header: Header): BulkFormat | Problem {
  const named = header('content-type').split(';');
  const [type = '', ...parameters] = named.map((part) => part.trim().toLowerCase());
  const charset = parameters.find((part) => part.startsWith('charset='))?.slice(8) ?? '';
  const format = formatOfType(type);
  const wrong = (detail: string): Problem => refused(415, detail, 'header.Content-Type');
  if (format === null) return wrong(`The body is ${CSV_TYPE} or ${NDJSON_TYPE}.`);
  if (format === 'csv' && parameters.includes('header=absent')) {
    return wrong('The first line of a table names its columns: header is present.');
  }
  return ['', 'utf-8', 'utf8', 'us-ascii'].includes(charset.replaceAll('"', ''))
    ? format
    : wrong('The body is UTF-8.');
}

/** The refusal of an output format for an input; `location` is where the request asks for it. */
function unacceptable(input: BulkFormat, location: string): Problem {
  return refused(
    406,
    input === 'csv'
      ? `CSV is answered as ${CSV_TYPE} or ${NDJSON_TYPE}.`
      : `NDJSON is answered as ${NDJSON_TYPE}.`,
    location,
  );
}

function outputOf(header: Header, input: BulkFormat): BulkFormat | Problem {
  return outputAccepted(header('accept'), input) ?? unacceptable(input, 'header.Accept');
}

function packedIn(header: Header): boolean | Problem {
  const coding = header('content-encoding').trim().toLowerCase();
  if (coding === '' || coding === 'identity') return false;
  return coding === 'gzip' || coding === 'x-gzip'
    ? true
    : refused(415, 'A packed body is gzip.', 'header.Content-Encoding');
}

/** Whether the client accepts gzip; without the field the answer is plain. */
export function packedOut(header: Header): boolean {
  const field = header('accept-encoding');
  const headers = { 'accept-encoding': field };
  return field !== '' && new Negotiator({ headers }).encodings(['gzip']).includes('gzip');
}

interface Options {
  strict: boolean;
  spool: boolean;
  readonly map: string[];
  delimiter: Delimiter | null;
  readonly defaults: Record<string, string>;
  readonly kept: Partial<Record<KeptOption, string>>;
}

/** Options about kept releases; they have the same meaning as for a single request. */
type KeptOption = 'dataset' | 'at';

/** The problem of a wrong option, which stands in the query or in the body. */
function unusable({ detail = '', field }: Failure, where: 'query' | 'body'): Problem {
  return refused(422, detail, `${where}.${field}`);
}

function readOption(
  options: Options,
  known: readonly string[],
  name: string,
  value: string,
): Failure | null {
  if (name === 'strict' || name === 'spool') {
    if (value !== 'true' && value !== 'false') {
      return noRequest(`${name} is true or false.`, name);
    }
    options[name] = value === 'true';
  } else if (name === 'dataset' || name === 'at') {
    if (value !== '') options.kept[name] = value;
  } else if (name === 'receipt') {
    return noRequest(
      'A file has no receipt; that of a row is had by its own request, with ' +
        'the dataset and the moment of the file.',
      name,
    );
  } else if (name === 'map') options.map.push(value);
  else if (name === 'delimiter') {
    const found = DELIMITER_OF_NAME.get(value);
    if (found === undefined) {
      return noRequest('delimiter is comma, semicolon, tab or pipe.', name);
    }
    options.delimiter = found;
  } else if (known.includes(name)) {
    if (value !== '') options.defaults[name] = value;
  } else {
    return noRequest(
      `There is no such option; there are: map, delimiter, strict, spool, ` +
        `dataset, at, ${known.join(', ')}.`,
      name,
    );
  }
  return null;
}

/** Finds defaults that would make every row a refusal. */
function checkDefaults(kind: BulkKind, defaults: Defaults, input: BulkFormat): Failure | null {
  if (kind === 'cart') return checkCartParameters(defaults, input);
  const raw = cellReader({ zip: 0 }, defaults)(['00000'], true);
  const parsed = parseParameters(raw, 60, GRANT_ALL);
  if (!isFailure(parsed)) return null;
  return noRequest(failureMessage(parsed), parsed.field ?? Object.keys(defaults)[0] ?? '');
}

type KeptAsked = Readonly<Partial<Record<KeptOption, string | null>>>;

function keptRunOf({ dataset = null, at = null }: KeptAsked): Pick<BulkRequest, 'kept'> | Failure {
  const read = readKept({ dataset, at, receipt: null });
  if (isFailure(read)) return noRequest(failureMessage(read), read.field ?? 'dataset');
  return read.dataset === null ? {} : { kept: { dataset: read.dataset, atMs: read.atMs } };
}

/** The kept release that query options ask for; without a member where they ask for none. */
export function readKeptRun(asked: KeptAsked): Pick<BulkRequest, 'kept'> | Problem {
  const run = keptRunOf(asked);
  return isFailure(run) ? unusable(run, 'query') : run;
}

type RowFormats = Pick<BulkRequest, 'kind' | 'input' | 'output' | 'gzipIn' | 'gzipOut'>;

/**
 * Reads the options of a request whose row formats are known, from a query or a body. `spool` is
 * the default of that option.
 */
export function requestOf(
  formats: RowFormats,
  asked: URLSearchParams,
  where: 'query' | 'body',
  spool = false,
): BulkRequest | Problem {
  const { kind, input, output } = formats;
  if (input === 'ndjson' && output === 'csv') return unacceptable(input, `${where}.output`);
  const options: Options = {
    strict: false,
    spool,
    map: [],
    delimiter: null,
    defaults: {},
    kept: {},
  };
  const known: readonly string[] = kind === 'cart' ? CART_PARAMETERS : SHARED_PARAMETERS;
  const read = new Set<string>();
  for (const [name, value] of asked) {
    // The first value of a repeated option counts, as with parameters of a single request.
    if (name !== 'map' && read.has(name)) continue;
    if (value !== '') read.add(name);
    const wrong = readOption(options, known, name, value);
    if (wrong !== null) return unusable(wrong, where);
  }
  const wrong = checkDefaults(kind, options.defaults, input);
  if (wrong !== null) return unusable(wrong, where);
  const { kept: releases, ...others } = options;
  const kept = keptRunOf(releases);
  return isFailure(kept) ? unusable(kept, where) : { ...formats, ...others, ...kept };
}

/** Reads headers and a query without the key. `spool` is the default of that option. */
export function parseBulkRequest(
  header: Header,
  asked: URLSearchParams,
  kind: BulkKind,
  spool = false,
): BulkRequest | Problem {
  const input = inputOf(header);
  if (typeof input !== 'string') return input;
  const output = outputOf(header, input);
  if (typeof output !== 'string') return output;
  const gzipIn = packedIn(header);
  if (typeof gzipIn !== 'boolean') return gzipIn;
  const formats = { kind, input, output, gzipIn, gzipOut: packedOut(header) };
  return requestOf(formats, asked, 'query', spool);
}
