/** Making a job: what is asked for, the body on the disk, the Idempotency-Key, the record. */
import { faultOf, type Log } from '../../log.js';
import type { ReleaseSource } from '../../pool.js';
import {
  IDEMPOTENCY_KEY_CHARS_MAX, type Claimed, type IdempotencyBook,
} from '../../store/idempotency.js';
import { StoreFault } from '../../store/fault.js';
import { NO_COUNTS } from '../../store/usage-meter.js';
import { JOBS_PATH, jobBody } from '../../wire/bulk/job-body.js';
import type { WireObject } from '../../wire/tree.js';
import { limitsOf } from '../bulk/desk.js';
import { allowedFile } from '../jobs/allowed-file.js';
import { fileSource, type FileIdentity } from '../jobs/byte-source.js';
import type { JobDesk } from '../jobs/desk.js';
import { readBeginning } from '../jobs/file-run.js';
import { isJobProblem, parseReference, parseUpload, type AskedJob } from '../jobs/request.js';
import { diskRefusal, JobUpload } from '../jobs/upload.js';
import { codedProblem } from '../coded-problem.js';
import { IDEMPOTENCY_HEADER, IDEMPOTENCY_KEY, keptOf, replayed } from '../merchant-gate.js';
import { problemReply } from '../problem.js';
import { headOf, JSON_TYPE, type Reply, type Request } from '../reply.js';
import type { Status } from '../status.js';
import type { StreamEvents, StreamExchange } from '../stream-exchange.js';
import { usedUp, type Caller } from './bulk.js';

/** Bytes of a body that names a file. */
export const JOB_BODY_BYTES_MAX = 65_536;

export interface JobMaking {
  readonly jobs: JobDesk;
  readonly idempotency: Pick<IdempotencyBook, 'claim'>;
  readonly releases: ReleaseSource;
  readonly baseUrl: string;
  readonly log: Log;
  /** Accounts and Idempotency-Keys of jobs whose body is under way. */
  readonly underWay: Set<string>;
}

/** What is known when the body is there. */
interface Arrived {
  readonly asked: AskedJob;
  readonly identity: FileIdentity;
  /** What another request with the same Idempotency-Key must be equal in. */
  readonly fingerprint: string;
}

class Making implements StreamEvents {
  readonly #making: JobMaking;
  readonly #caller: Caller;
  readonly #request: Request;
  readonly #exchange: StreamExchange;
  readonly #id: string;
  readonly #dataset: string;
  /** Empty without one. */
  readonly #key: string;
  #upload: JobUpload | null = null;
  /** Pieces of a body that names a file; null once it is too long. */
  #body: Buffer | null = Buffer.alloc(0);
  #over = false;

  constructor(
    making: JobMaking, caller: Caller, request: Request, exchange: StreamExchange,
    asked: AskedJob | null, dataset: string,
  ) {
    this.#making = making;
    this.#caller = caller;
    this.#request = request;
    this.#exchange = exchange;
    this.#dataset = dataset;
    this.#key = request.header(IDEMPOTENCY_HEADER);
    this.#id = making.jobs.reserve(caller.key.account);
    if (this.#key !== '') making.underWay.add(this.#mark);
    if (asked !== null) this.#upload = this.#open(asked);
    exchange.listen(this);
  }

  data(piece: Uint8Array, isLast: boolean): void {
    if (this.#over) return;
    if (this.#upload !== null) return this.#upload.push(piece, isLast);
    const body = this.#body;
    if (body === null) return;
    this.#body = body.length + piece.length > JOB_BODY_BYTES_MAX
      ? null : Buffer.concat([body, piece]);
    if (this.#body === null) {
      this.#refuse(413, `A body that names a file may have ${JOB_BODY_BYTES_MAX} bytes.`, {
        limit: JOB_BODY_BYTES_MAX,
      });
    } else if (isLast) void this.#guard(this.#named(this.#body));
  }

  drained(): void {
    // The answer is sent as a whole.
  }

  waiting(): boolean {
    return !this.#over;
  }

  idle(): void {
    const seconds = this.#making.jobs.options.limits.idleMs / 1000;
    this.#refuse(408, `Nothing was sent for ${seconds} seconds.`);
  }

  closed(): void {
    this.#drop();
  }

  get #mark(): string {
    return `${this.#caller.key.account}\n${this.#key}`;
  }

  #open(asked: AskedJob): JobUpload {
    const { jobs } = this.#making;
    const { query } = this.#caller;
    const { space, limits } = jobs.options;
    const type = this.#request.header('content-type');
    return new JobUpload({
      id: this.#id, space, gzip: asked.bulk.gzipIn, bytesMax: limits.bytesMax,
      body: this.#exchange,
      done: ({ identity, sha256 }) => void this.#guard(this.#arrived({
        asked, identity, fingerprint: [type, asked.bulk.output, query, sha256].join('\n'),
      })),
      failed: ({ status, detail, members }) => this.#refuse(status, detail, members),
    });
  }

  /** The body names a file. */
  async #named(body: Buffer): Promise<void> {
    const { jobs: { options: { filesDir, kinds, limits } } } = this.#making;
    if (filesDir === null) {
      return this.#refuse(403, 'This service reads no files of its own; upload the rows.');
    }
    const asked = parseReference(body, kinds.map(({ kind }) => kind));
    if (isJobProblem(asked)) {
      return this.#refuse(asked.status, asked.detail, {
        errors: [{ location: asked.location, message: asked.detail }],
      });
    }
    const found = await allowedFile(filesDir, asked.file ?? '');
    if (found === null) {
      const detail = 'There is no such file in the allowed folder.';
      return this.#refuse(422, detail, { errors: [{ location: 'body.file', message: detail }] });
    }
    const { identity } = found;
    if (identity.bytes > limits.bytesMax) {
      return this.#refuse(413, `A file may have ${limits.bytesMax} bytes.`, {
        limit: limits.bytesMax,
      });
    }
    await this.#arrived({ asked, identity, fingerprint: body.toString('utf8') });
  }

  async #arrived({ asked, identity, fingerprint }: Arrived): Promise<void> {
    const { jobs, idempotency } = this.#making;
    const { space, filesDir } = jobs.options;
    const { file, bulk } = asked;
    const path = file === null ? space.input(this.#id)
      : (await allowedFile(filesDir ?? '', file))?.path ?? '';
    const begun = await readBeginning(fileSource(path, identity), bulk);
    if (begun !== null && 'detail' in begun) {
      return this.#refuse(begun.status, begun.detail, begun.members);
    }
    if (this.#over) return;
    if (this.#key === '') return this.#create(asked, identity, null);
    const claimed = idempotency.claim({
      account: this.#caller.key.account, key: this.#key, path: JOBS_PATH,
      body: Buffer.from(fingerprint),
    });
    switch (claimed.kind) {
      case 'kept': return this.#send(replayed(claimed.answer, this.#caller.fields));
      case 'running': return this.#refuse(409, RUNNING, IN_USE);
      case 'other': return this.#refuse(422, 'This Idempotency-Key belongs to another request.', {
        errors: [{
          location: 'header.Idempotency-Key', message: 'expected a new key for another body',
        }],
      });
      case 'fresh': try {
        return await this.#create(asked, identity, claimed);
      } finally {
        claimed.claim.end();
      }
    }
  }

  async #create(
    { kind, bulk, file }: AskedJob, { bytes, modifiedMs }: FileIdentity,
    claimed: Extract<Claimed, { readonly kind: 'fresh' }> | null,
  ): Promise<void> {
    const { jobs, baseUrl } = this.#making;
    const { key, fields } = this.#caller;
    const { input, output, strict, map, delimiter, defaults } = bulk;
    let reply: Reply | null = null;
    // From here on the job stays, whether the client does or not.
    this.#done();
    const made = jobs.create({
      id: this.#id, key, file, inputBytes: bytes, inputModifiedMs: modifiedMs,
      dataset: this.#dataset,
      request: {
        kind, input, output, strict, map, delimiter, defaults, nowMs: jobs.options.now(),
      },
    }, (transaction, view) => {
      const head = headOf(JSON_TYPE, {
        ...fields, Location: `${baseUrl}${JOBS_PATH}/${view.record.id}`,
      });
      reply = { status: 202, head, body: jobBody(view) };
      claimed?.claim.keep(transaction, keptOf(reply));
    });
    try {
      await made;
    } catch (error) {
      jobs.drop(this.#id);
      throw error;
    }
    if (reply !== null) this.#exchange.send(reply);
  }

  /** What is thrown on the way becomes a refusal, and nothing is left of the job. */
  async #guard(work: Promise<void>): Promise<void> {
    try {
      await work;
    } catch (error) {
      this.#making.log.error('job not made', { fault: faultOf(error) });
      if (error instanceof StoreFault) {
        this.#refuse(503, 'The service cannot store anything now; nothing was done.');
      } else {
        const { status, detail, members } = diskRefusal(error);
        this.#refuse(status, detail, members);
      }
    }
  }

  #refuse(status: Status, detail: string, members: WireObject = {}): void {
    const { limits } = this.#making.jobs.options;
    this.#send(problemReply({
      status, detail, instance: JOBS_PATH, members: { limits: limitsOf(limits), ...members },
    }, this.#caller.fields));
  }

  #send(reply: Reply): void {
    this.#drop();
    this.#exchange.send(reply);
  }

  /** Nothing is left to be given up. */
  #done(): void {
    this.#over = true;
    if (this.#key !== '') this.#making.underWay.delete(this.#mark);
  }

  #drop(): void {
    if (this.#over) return;
    this.#done();
    this.#upload?.close();
    this.#making.jobs.drop(this.#id);
  }
}

const RUNNING = 'A request with this Idempotency-Key is under way.';
const IN_USE: WireObject = {
  errors: [{
    location: 'header.Idempotency-Key', message: 'expected a key that is not in use',
  }],
};

/** Begins a job, or refuses it before its body is read. */
export function openJob(
  making: JobMaking, caller: Caller, request: Request, exchange: StreamExchange,
): void {
  const { jobs, releases, baseUrl, underWay } = making;
  const { key, fields, query } = caller;
  const { limits, kinds, usage } = jobs.options;
  const refuse = (status: Status, detail: string, members: WireObject = {}): void =>
    exchange.send(problemReply({
      status, detail, instance: JOBS_PATH, members: { limits: limitsOf(limits), ...members },
    }, fields));
  const isReference = /^\s*application\/json\b/i.test(request.header('content-type'));
  const asked = isReference ? null
    : parseUpload((name) => request.header(name), query, kinds.map(({ kind }) => kind));
  if (asked !== null && isJobProblem(asked)) {
    const { status, detail, location } = asked;
    return refuse(status, detail, { errors: [{ location, message: detail }] });
  }
  if (Number(request.header('content-length') || 0) > limits.bytesMax) {
    return refuse(413, `A body may have ${limits.bytesMax} bytes.`, { limit: limits.bytesMax });
  }
  const token = request.header(IDEMPOTENCY_HEADER);
  if (token !== '' && (token.length > IDEMPOTENCY_KEY_CHARS_MAX || !IDEMPOTENCY_KEY.test(token))) {
    return refuse(400, 'The Idempotency-Key cannot be used.', {
      errors: [{
        location: 'header.Idempotency-Key',
        message: `expected 1 to ${IDEMPOTENCY_KEY_CHARS_MAX} printable ASCII characters`,
      }],
    });
  }
  if (token !== '' && underWay.has(`${key.account}\n${token}`)) return refuse(409, RUNNING, IN_USE);
  const limit = jobs.full(key.account);
  if (limit !== null) {
    return refuse(429, `The account has ${limit} jobs; remove one or wait.`, { limit });
  }
  const merchant = kinds.find(({ kind }) => kind === asked?.kind)?.merchant ?? false;
  const spent = usedUp((rows) => {
    const admission = usage.admitRows(key, rows, merchant);
    return {
      rows: admission.rows, grants: admission.grants, scarce: admission.scarce,
      settle: () => usage.settleRows(admission, NO_COUNTS),
    };
  });
  if (spent) {
    return exchange.send(codedProblem('feature-not-enabled', JOBS_PATH, baseUrl, fields,
      'The quota of this month is used up.'));
  }
  const release = releases.pin();
  if (release === null) return refuse(503, 'No dataset is active.');
  releases.unpin(release);
  void new Making(making, caller, request, exchange, asked, release.id);
}
