/** What `situs bulk` and `situs lint` are asked. */
import { parseArgs } from 'node:util';
import { BULK_TERMS } from '../http/bulk/kind.js';
import {
  CSV_TYPE, isRequestProblem, NDJSON_TYPE, parseBulkRequest, type BulkRequest,
} from '../http/bulk/request.js';
import type { BulkKind } from '../wire/bulk/job.js';
import { refuseExtra, UsageError } from './usage.js';

/** Standard input, or output. */
export const STANDARD = '-';

/** How the rows of a file are read. */
export const ROW_OPTIONS = {
  input: { type: 'string' },
  map: { type: 'string', multiple: true, default: [] as string[] },
  delimiter: { type: 'string' },
  default: { type: 'string', multiple: true, default: [] as string[] },
} as const;

/** Pipes and devices come once. */
export const RESUME_NEEDS = '--resume needs a file to read and a file to write (-o)';

export interface BulkOptions {
  readonly file: string;
  readonly output: string;
  readonly kind: BulkKind;
  readonly request: BulkRequest;
  readonly resume: boolean;
  readonly quiet: boolean;
  /** Null for one on each processor. */
  readonly threads: number | null;
}

const TYPES: ReadonlyMap<string, string> = new Map([['csv', CSV_TYPE], ['ndjson', NDJSON_TYPE]]);

/** Formats by the end of a file's name, packed or not. */
function formatOf(file: string): string {
  return /\.(?:ndjson|jsonl)(?:\.gz)?$/i.test(file) ? 'ndjson' : 'csv';
}

function typeOf(option: string, format: string): string {
  const type = TYPES.get(format);
  if (type === undefined) throw new UsageError(`--${option} is csv or ndjson`);
  return type;
}

interface RowsAsked {
  readonly input?: string;
  readonly format?: string;
  readonly map: readonly string[];
  readonly delimiter?: string;
  readonly default: readonly string[];
  readonly strict?: boolean;
}

/**
 * The request that a server would be sent for the same rows.
 * @throws UsageError for options that it would refuse.
 */
export function requestFor(file: string, asked: RowsAsked, kind: BulkKind): BulkRequest {
  const query = new URLSearchParams();
  for (const entry of asked.map) query.append('map', entry);
  if (asked.delimiter !== undefined) query.set('delimiter', asked.delimiter);
  if (asked.strict === true) query.set('strict', 'true');
  for (const entry of asked.default) {
    const at = entry.indexOf('=');
    if (at < 0) throw new UsageError('--default is NAME=VALUE');
    query.set(entry.slice(0, at), entry.slice(at + 1));
  }
  const fields: Readonly<Record<string, string>> = {
    'content-type': typeOf('input', asked.input ?? formatOf(file)),
    accept: asked.format === undefined ? '*/*' : typeOf('format', asked.format),
  };
  const request = parseBulkRequest((name) => fields[name] ?? '', query.toString(), kind);
  if (isRequestProblem(request)) throw new UsageError(request.detail);
  return request;
}

/** A kind that files may have. */
function kindOf(text: string): BulkKind {
  const kinds = BULK_TERMS.map(({ kind }) => kind);
  const found = kinds.find((kind) => kind === text);
  if (found === undefined) throw new UsageError(`--kind is ${kinds.join(' or ')}`);
  return found;
}

function threadsOf(text: string | undefined): number | null {
  if (text === undefined) return null;
  const threads = Number(text);
  if (/^\d{1,3}$/.test(text) && threads > 0) return threads;
  throw new UsageError('--threads is a whole number from 1');
}

/** Reads the arguments of `situs bulk`. */
export function parseBulkArgs(args: readonly string[], usage: string): BulkOptions {
  const { values, positionals } = parseArgs({
    args: [...args], allowPositionals: true,
    options: {
      ...ROW_OPTIONS,
      output: { type: 'string', short: 'o', default: STANDARD },
      format: { type: 'string' },
      kind: { type: 'string', default: 'lookup' },
      strict: { type: 'boolean', default: false },
      resume: { type: 'boolean', default: false },
      quiet: { type: 'boolean', default: false },
      threads: { type: 'string' },
    },
  });
  const [file] = positionals;
  if (file === undefined) throw new UsageError(usage);
  refuseExtra(positionals, 1);
  const { output, resume, quiet } = values;
  const kind = kindOf(values.kind);
  if (resume && (file === STANDARD || output === STANDARD)) {
    throw new UsageError(RESUME_NEEDS);
  }
  return {
    file, output, kind, resume, quiet, threads: threadsOf(values.threads),
    request: requestFor(file, values, kind),
  };
}
