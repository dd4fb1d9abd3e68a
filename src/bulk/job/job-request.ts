/** Reads a request for a job, from query and header fields or from a JSON body. */
import type { JsonObject } from '../../base/json-object.js';
import { invalid, isProblem, problem, type Problem } from '../../base/problem.js';
import { anyText, checkOf, choice, oneOrList, open, optional, type Of } from '../../base/shape.js';
import { type BodyError, isFaultless } from '../../base/validator.js';
import { type Caller, rowsRefusal } from '../../http/gate.js';
import { readJsonObject } from '../../http/json-body.js';
import type { KeyRecord } from '../../store/format.js';
import { BULK_FORMATS, type BulkFormat, type BulkKind } from '../row/chunk-payload.js';
import { type BulkLimits, lengthRefusal, limitsOf } from '../run/uploads.js';
import { BULK_ROUTES, keptFault, merchantFault } from '../run/kind.js';
import {
  parseBulkRequest,
  refused,
  requestOf,
  tooLarge,
  type BulkRequest,
} from '../run/request.js';
import type { AnswerSettings } from '../../wire/receipt.js';
import type { WireObject } from '../../wire/tree.js';
import { allowedFile, type FileIdentity, filesOf } from './byte-source.js';
import type { CreationServices } from './create.js';
import type { Reply, Request } from '../../http/reply.js';
import type { RunRequest } from '../run/run.js';

/** The part of a request that is stored with a job. */
export interface JobRequest extends RunRequest {
  /** The moment that "today" is derived from, in milliseconds since 1970. */
  readonly nowMs: number;
  /** Settings of the server that created the job; absent in jobs of earlier versions. */
  readonly settings?: AnswerSettings;
}

/** What a request for a job asks for. */
export interface AskedJob {
  readonly bulk: BulkRequest;
  /** Name of a file in the allowed folder; null where the body has the rows. */
  readonly file: string | null;
}

type Header = (name: string) => string;

/** The kinds of rows that a job may have. */
export const JOB_KINDS = BULK_ROUTES.map(({ kind }) => kind);

/** The shape of a body that names a file. Further members are the same options as in a query. */
export const JOB_REFERENCE = open({
  file: anyText(),
  kind: optional(choice(JOB_KINDS)),
  format: optional(choice(BULK_FORMATS)),
  output: optional(choice(BULK_FORMATS)),
  map: optional(oneOrList(anyText())),
});
type Reference = Of<typeof JOB_REFERENCE>;

const checkReference = checkOf(JOB_REFERENCE);

/**
 * The Accept field, where it is about the output of a job. Fields for other documents accept any
 * output.
 */
function outputAsked(accept: string): string {
  return /text\/csv|ndjson/i.test(accept) ? accept : '*/*';
}

function kindOf(name: string, kinds: readonly BulkKind[], from: string): BulkKind | Problem {
  const kind = kinds.find((known) => known === name);
  return kind ?? refused(422, `kind is ${kinds.join(' or ')}.`, `${from}.kind`);
}

/** Reads a request whose body has the rows. */
export function parseUpload(
  header: Header,
  query: string,
  kinds: readonly BulkKind[],
): AskedJob | Problem {
  const options = new URLSearchParams(query);
  const kind = kindOf(options.get('kind') ?? 'lookup', kinds, 'query');
  if (typeof kind !== 'string') return kind;
  options.delete('kind');
  const bulk = parseBulkRequest(
    (name) => (name === 'accept' ? outputAsked(header(name)) : header(name)),
    options,
    kind,
  );
  return isProblem(bulk) ? bulk : { bulk, file: null };
}

/** The format that the name of a file implies. */
function formatOf(file: string): BulkFormat {
  return /\.(?:ndjson|jsonl)$/i.test(file) ? 'ndjson' : 'csv';
}

/** Members that are not options of the query form. */
const MEMBERS = new Set(['file', 'kind', 'format', 'output']);

function optionsOf(members: JsonObject): URLSearchParams | Problem {
  const options = new URLSearchParams();
  for (const [name, value] of Object.entries(members)) {
    if (MEMBERS.has(name) || value === null) continue;
    const values: readonly unknown[] = Array.isArray(value) ? value : [value];
    for (const each of values) {
      if (typeof each !== 'string' && typeof each !== 'boolean' && typeof each !== 'number') {
        const detail = `${name}: text, a number, true or false.`;
        return refused(422, detail, `body.${name}`);
      }
      options.append(name, String(each));
    }
  }
  return options;
}

/** Reads a request that names a file: {"file": "orders/may.csv", "kind": …, "map": […]}. */
export function parseReference(body: Uint8Array): AskedJob | Problem {
  const json = readJsonObject(body);
  if (isProblem(json)) return json;
  const { object } = json;
  const errors = checkReference(object);
  if (!isFaultless<Reference>(object, errors)) return invalid(...errors);
  const options = optionsOf(object);
  if (isProblem(options)) return options;
  const { file } = object;
  const kind = object.kind ?? 'lookup';
  const input = object.format ?? formatOf(file);
  const output = object.output ?? input;
  const formats = { kind, input, output, gzipIn: false, gzipOut: false };
  const bulk = requestOf(formats, options, 'body');
  return isProblem(bulk) ? bulk : { bulk, file };
}

// Reasons to refuse a job.

type Services = Pick<CreationServices, 'jobs' | 'releases'>;

/** The refusal of a job. */
export function noJob(
  caller: Caller,
  limits: BulkLimits,
  kind: BulkKind,
  { status, detail, errors, members }: Problem,
): Reply {
  // Errors follow the limits, like other members.
  const parts = errors === undefined ? {} : { errors: errors.map(part) };
  return caller.refuse({
    ...problem(status, detail),
    members: { limits: limitsOf(limits, kind), ...parts, ...members },
  });
}

function part({ location, message }: BodyError): WireObject {
  return { location, message };
}

/**
 * Why a job is refused before its body is read; null where it is not. `asked` is null where the
 * body names a file.
 */
export function headRefusal(
  { jobs, releases }: Services,
  key: KeyRecord,
  request: Request,
  asked: AskedJob | null,
): Problem | null {
  const { limits, findMerchant } = jobs.options;
  const unscoped = asked === null ? null : rowsRefusal(key, asked.bulk.kind);
  const refusal = unscoped ?? lengthRefusal(request, limits);
  if (refusal !== null || asked === null) return refusal;
  return (
    merchantFault(findMerchant, key.account, asked.bulk, 'query') ??
    keptFault(releases, key, asked.bulk, 'query')
  );
}

/** A file that a body names, with what is asked of it. */
interface NamedFile {
  readonly asked: AskedJob;
  readonly identity: FileIdentity;
}

/**
 * Finds the file that a body names, or tells why it is refused.
 * @param told called with the kind of rows, once it is known
 */
export async function askedOfFile(
  { jobs, releases }: Services,
  key: KeyRecord,
  body: Buffer,
  told: (kind: BulkKind) => void,
): Promise<NamedFile | Problem> {
  const { filesDir, limits, findMerchant } = jobs.options;
  if (filesDir === null) {
    const detail = 'This service reads no files of its own; upload the rows.';
    return problem(403, detail);
  }
  const asked = parseReference(body);
  if (isProblem(asked)) return asked;
  told(asked.bulk.kind);
  const fault =
    rowsRefusal(key, asked.bulk.kind) ??
    keptFault(releases, key, asked.bulk, 'body') ??
    merchantFault(findMerchant, key.account, asked.bulk, 'body');
  if (fault !== null) return fault;
  const found = await allowedFile(filesOf(filesDir, key.account), asked.file ?? '');
  if (found === null) {
    const detail = 'There is no such file in the folder of the account.';
    return refused(422, detail, 'body.file');
  }
  const { identity } = found;
  return identity.bytes > limits.bytesMax
    ? tooLarge('A file', limits.bytesMax)
    : { asked, identity };
}
