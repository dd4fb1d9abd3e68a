/** Sends the result of a job: whole or in part, plain or gzip, as fast as the client takes it. */
import { statSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import rangeParser from 'range-parser';
import type { DuplexExchange } from '../../http/duplex-exchange.js';
import type { Caller } from '../../http/gate.js';
import { problemReply } from '../../http/problem-reply.js';
import {
  type DuplexEvents,
  type Head,
  headOf,
  OWN_HEADERS,
  type Reply,
  type Request,
} from '../../http/reply.js';
import type { JobRecord } from '../../store/jobs.js';
import type { JobView } from '../row/job-body.js';
import { openOutput, type Output } from '../run/output.js';
import { packedOut, typeOf } from '../run/request.js';
import { fileBytes } from './byte-source.js';
import { checkpointOf, requestOf } from './open-job.js';
import type { JobRegistry } from './registry.js';

/* Parts of a result (RFC 9110, 14). */

/** What the library returns for a range beyond the end, and for a malformed field. */
const UNSATISFIABLE = -1;
const MALFORMED = -2;

/** Positions of the first and the last byte, both included. */
interface ByteRange {
  readonly first: number;
  readonly last: number;
}

/** Whether a range ends before it begins. No length can satisfy it, and it is ignored (14.1.1). */
function isBackward(field: string): boolean {
  return !field.includes('=-') && rangeParser(Number.MAX_SAFE_INTEGER, field) === UNSATISFIABLE;
}

/** A field that asks only for a number of last bytes. */
const LAST_BYTES = /^bytes=\s*-\s*(\d+)\s*$/i;

/**
 * The single range that a Range field asks for. Null where the whole result is sent: the field is
 * absent, malformed, in another unit or has several ranges.
 */
function parseRange(field: string, bytes: number): ByteRange | 'unsatisfiable' | null {
  const lastBytes = Number(LAST_BYTES.exec(field)?.[1] ?? 0);
  // More bytes than there are means all of them (14.1.2), but the library returns unsatisfiable.
  if (lastBytes > bytes && bytes > 0) return { first: 0, last: bytes - 1 };
  const parsed = rangeParser(bytes, field);
  if (parsed === UNSATISFIABLE) return isBackward(field) ? null : 'unsatisfiable';
  if (parsed === MALFORMED || parsed.type.toLowerCase() !== 'bytes') return null;
  const [only, ...more] = parsed;
  return only === undefined || more.length > 0 ? null : { first: only.start, last: only.end };
}

/** Whether an If-None-Match field has one of the tags, by weak comparison. */
function namesTag(field: string, tags: readonly string[]): boolean {
  if (field.trim() === '*') return true;
  return field
    .split(',')
    .map((each) => each.trim().replace(/^W\//, ''))
    .some((each) => tags.includes(each));
}

interface ResultOptions {
  readonly path: string;
  readonly range: ByteRange;
  readonly gzip: boolean;
  readonly status: number;
  readonly head: Head;
  readonly dataset: string;
  /** Called instead of sending an answer when the file does not exist. */
  readonly missing: () => void;
}

class ResultStream implements DuplexEvents {
  readonly #exchange: DuplexExchange;
  readonly #options: ResultOptions;
  readonly #output: Output;
  #taken: () => void = () => undefined;
  #over = false;

  constructor(exchange: DuplexExchange, options: ResultOptions) {
    this.#exchange = exchange;
    this.#options = options;
    this.#output = openOutput(options.gzip, exchange, () => this.#taken());
    exchange.listen(this);
    void this.#send();
  }

  data(): void {
    // The request has no body.
  }

  drained(): void {
    this.#output.drained();
  }

  waiting(): boolean {
    return false;
  }

  idle(): void {
    this.#exchange.abandon();
  }

  closed(): void {
    this.#over = true;
    this.#output.close();
    this.#taken();
  }

  async #send(): Promise<void> {
    const { path, status, head, dataset, missing } = this.#options;
    let file: FileHandle;
    try {
      file = await open(path, 'r');
    } catch {
      return missing();
    }
    try {
      this.#exchange.begin(status, head, dataset);
      await this.#copy(file);
      if (!this.#over) this.#output.end();
    } catch {
      // The connection is cut: from the missing end the client sees that the result is incomplete.
      this.#exchange.abandon();
    } finally {
      await file.close();
    }
  }

  async #copy(file: FileHandle): Promise<void> {
    const { first, last } = this.#options.range;
    let left = last + 1 - first;
    if (left === 0) return;
    for await (const piece of fileBytes(file, first)) {
      if (this.#over) return;
      const part = piece.subarray(0, left);
      left -= part.length;
      if (!this.#output.write(part)) {
        await new Promise<void>((resolve) => {
          this.#taken = resolve;
          if (this.#over) resolve();
        });
      }
      if (left === 0) return;
    }
    if (left > 0) throw new Error('the result is shorter than its record says');
  }
}

/* What is shown of a job. */

export const DAY_MS = 86_400_000;

/** What is shown of a job; `days` is how long it is kept after its end. */
export function viewOf(record: JobRecord, days: number): JobView {
  const { kind, output } = requestOf(record);
  const checkpoint = checkpointOf(record);
  const { endedAt } = record;
  return {
    record,
    kind,
    output,
    at: checkpoint?.position.at ?? 0,
    rows: checkpoint?.rows ?? 0,
    codes: checkpoint?.codes ?? {},
    expiresAt: endedAt === null ? null : endedAt + days * DAY_MS,
  };
}

// Answers to requests for the result of a job.

const AWAY =
  'The result lies with another server, on another machine. Ask again, where a load ' +
  'balancer may lead there, or ask that server.';
/** The answer where there is no such job of this account. */
export function missing(caller: Caller): Reply {
  return caller.problem(404, 'There is no such job.');
}

/** Answers with the result of a job, as the conditions and the range of the request ask. */
export function sendResult(
  jobs: JobRegistry,
  request: Request,
  exchange: DuplexExchange,
  caller: Caller,
  record: JobRecord,
): void {
  const { fields, instance } = caller;
  const { id, result, state, reason, dataset } = record;
  if (result === null) {
    const why = reason === null ? '' : ` ${reason}`;
    return exchange.send(caller.problem(409, `The job is ${state} and has no result.${why}`));
  }
  const { bytes, sha256 } = result;
  const [plainTag, packedTag] = [`"${sha256}"`, `"${sha256}-gzip"`];
  const named = request.header('range');
  const condition = request.header('if-range');
  const range = condition === '' || condition === plainTag ? parseRange(named, bytes) : null;
  const gzip = named === '' && packedOut((name) => request.header(name));
  const common = {
    ...fields,
    [OWN_HEADERS.job]: id,
    [OWN_HEADERS.dataset]: dataset,
    'Accept-Ranges': 'bytes',
    ETag: gzip ? packedTag : plainTag,
    Vary: 'Accept-Encoding',
  };
  const type = typeOf(jobs.view(record).output);
  const unless = request.header('if-none-match');
  if (unless !== '' && namesTag(unless, [plainTag, packedTag])) {
    return exchange.send({ status: 304, head: headOf(type, common), body: '', dataset });
  }
  if (range === 'unsatisfiable') {
    return exchange.send(
      problemReply({ status: 416, detail: `The result has ${bytes} bytes.` }, instance, {
        ...fields,
        'Content-Range': `bytes */${bytes}`,
      }),
    );
  }
  const { first, last } = range ?? { first: 0, last: bytes - 1 };
  const head = headOf(type, {
    ...common,
    ...(gzip ? { 'Content-Encoding': 'gzip' } : {}),
    ...(range === null ? {} : { 'Content-Range': `bytes ${first}-${last}/${bytes}` }),
  });
  sendFile(jobs, exchange, caller, record, {
    range: { first, last },
    gzip,
    head,
    dataset,
    status: range === null ? 200 : 206,
  });
}

/**
 * Sends the result from this server's folder; if it is not there, fetches it from the broker first.
 */
function sendFile(
  jobs: JobRegistry,
  exchange: DuplexExchange,
  caller: Caller,
  record: JobRecord,
  part: Omit<ResultOptions, 'path' | 'missing'>,
): void {
  const isHere = [undefined, '', jobs.options.place].includes(record.place);
  const path = jobs.options.space.output(record.id);
  const send = (): void =>
    void new ResultStream(exchange, {
      ...part,
      path,
      missing: () => exchange.send(isHere ? missing(caller) : caller.problem(503, AWAY)),
    });
  // A file here of a job that ended on another server may be incomplete output of its start here.
  const isWhole =
    isHere || statSync(path, { throwIfNoEntry: false })?.size === record.result?.bytes;
  if (isWhole || !jobs.keeper.has(record)) send();
  else void jobs.keeper.bringResult(record).then(send);
}
