/** What `situs bulk` and `situs lint` are asked. */
import { isProblem } from '../base/problem.js';
import { BULK_ROUTES } from '../bulk/run/kind.js';
import { CSV_TYPE, NDJSON_TYPE, parseBulkRequest, type BulkRequest } from '../bulk/run/request.js';
import type { BulkKind } from '../bulk/row/chunk-payload.js';
import { UsageError } from './command-line.js';

/** Standard input, or output. */
export const STANDARD = '-';

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
  /** Address of the broker that leads to nodes which answer; null for this machine. */
  readonly fleet: string | null;
}

const TYPES: ReadonlyMap<string, string> = new Map([
  ['csv', CSV_TYPE],
  ['ndjson', NDJSON_TYPE],
]);

/** Formats by the end of a file's name, packed or not. */
function formatOf(file: string): string {
  return /\.(?:ndjson|jsonl)(?:\.gz)?$/i.test(file) ? 'ndjson' : 'csv';
}

function typeOf(option: string, format: string): string {
  const type = TYPES.get(format);
  if (type === undefined) throw new UsageError(`--${option} is csv or ndjson`);
  return type;
}

/** How the rows of a file are read. */
export interface RowsAsked {
  readonly input?: string;
  readonly format?: string;
  readonly map?: readonly string[];
  readonly delimiter?: string;
  readonly default?: readonly string[];
  readonly dataset?: string;
  readonly at?: string;
  readonly strict?: boolean;
}

/** What `situs bulk` is asked. */
export interface BulkAsked extends RowsAsked {
  readonly output: string;
  readonly kind: string;
  readonly resume?: boolean;
  readonly quiet?: boolean;
  readonly threads?: number;
  readonly fleet?: string;
}

/**
 * The request that a server would be sent for the same rows.
 * @throws UsageError for options that it would refuse.
 */
export function requestFor(file: string, asked: RowsAsked, kind: BulkKind): BulkRequest {
  const query = new URLSearchParams();
  for (const entry of asked.map ?? []) query.append('map', entry);
  if (asked.delimiter !== undefined) query.set('delimiter', asked.delimiter);
  if (asked.dataset !== undefined) query.set('dataset', asked.dataset);
  if (asked.at !== undefined) query.set('at', asked.at);
  if (asked.strict === true) query.set('strict', 'true');
  for (const entry of asked.default ?? []) {
    const at = entry.indexOf('=');
    if (at < 0) throw new UsageError('--default is NAME=VALUE');
    query.set(entry.slice(0, at), entry.slice(at + 1));
  }
  const fields: Readonly<Record<string, string>> = {
    'content-type': typeOf('input', asked.input ?? formatOf(file)),
    accept: asked.format === undefined ? '*/*' : typeOf('format', asked.format),
  };
  const request = parseBulkRequest((name) => fields[name] ?? '', query.toString(), kind);
  if (isProblem(request)) throw new UsageError(request.detail);
  return request;
}

/** A kind that files may have. */
function kindOf(text: string): BulkKind {
  const kinds = BULK_ROUTES.map(({ kind }) => kind);
  const found = kinds.find((kind) => kind === text);
  if (found === undefined) throw new UsageError(`--kind is ${kinds.join(' or ')}`);
  return found;
}

/**
 * What a run of `situs bulk` is to do.
 * @throws UsageError for options that do not go together.
 */
export function bulkOptions(file: string, asked: BulkAsked): BulkOptions {
  const { output, resume = false, quiet = false, threads = null, fleet = null } = asked;
  const kind = kindOf(asked.kind);
  if (resume && (file === STANDARD || output === STANDARD)) {
    throw new UsageError(RESUME_NEEDS);
  }
  if (fleet !== null && threads !== null) {
    throw new UsageError('--threads are of this machine; with --fleet its nodes have theirs');
  }
  const request = requestFor(file, asked, kind);
  return { file, output, kind, resume, quiet, threads, fleet, request };
}
