/**
 * Creates a job: reads what is asked for, stores the body, uses the Idempotency-Key and makes the
 * record.
 */
import { faultOf, type Log } from '../../log.js';
import { isProblem, problem, type Problem } from '../../base/problem.js';
import type { ReleaseSource } from '../../pool.js';
import { grown, NO_BYTES } from '../../base/growing-bytes.js';
import { KeyTaken, type Claimed, type IdempotencyBook } from '../../store/idempotency.js';
import { JOBS_PATH, jobBody } from '../row/job-body.js';
import type { BulkKind } from '../row/chunk-payload.js';
import { tooLarge } from '../run/request.js';
import { type KnownReleases, spentRefusal } from '../run/kind.js';
import { silence } from '../run/uploads.js';
import { allowedFile, type FileIdentity, filesOf, fileSource } from './byte-source.js';
import type { JobRegistry } from './registry.js';
import { readBeginning } from './file-run.js';
import { type AskedJob, askedOfFile, noJob } from './job-request.js';
import { diskRefusal, JobUpload } from './stored-body.js';
import type { Caller } from '../../http/gate.js';
import { storeRefusal } from '../../http/problem-reply.js';
import { IDEMPOTENCY_HEADER, keptOf, replayed, takenKey } from '../../http/idempotency-key.js';
import {
  type DuplexEvents,
  headOf,
  JSON_TYPE,
  type Reply,
  type Request,
} from '../../http/reply.js';
import type { DuplexExchange } from '../../http/duplex-exchange.js';

/** Longest body that names a file. */
export const JOB_BODY_BYTES_MAX = 65_536;

export interface CreationServices {
  readonly jobs: JobRegistry;
  readonly idempotency: Pick<IdempotencyBook, 'claim'>;
  readonly releases: ReleaseSource & KnownReleases;
  readonly baseUrl: string;
  readonly log: Log;
  /** Accounts with Idempotency-Keys of jobs whose body is still being received. */
  readonly underWay: Set<string>;
}

/** What is known of a job when its body is complete. */
interface Arrived {
  readonly asked: AskedJob;
  readonly identity: FileIdentity;
  /** Text that a later request with the same Idempotency-Key must have too. */
  readonly fingerprint: string;
}

/** One request for a job, from its head to its answer. */
export class JobCreation implements DuplexEvents {
  readonly #services: CreationServices;
  readonly #caller: Caller;
  readonly #request: Request;
  readonly #exchange: DuplexExchange;
  readonly #id: string;
  readonly #dataset: string;
  /** The Idempotency-Key; empty without one. */
  readonly #key: string;
  /** The kind of rows; a body that names a file may change it. */
  #kind: BulkKind = 'lookup';
  #upload: JobUpload | null = null;
  /** The body so far, where it names a file; null once it was too long. */
  #body: Buffer | null = NO_BYTES;
  #bodyBytes = 0;
  #over = false;

  constructor(
    services: CreationServices,
    caller: Caller,
    request: Request,
    exchange: DuplexExchange,
    asked: AskedJob | null,
    dataset: string,
  ) {
    this.#services = services;
    this.#caller = caller;
    this.#request = request;
    this.#exchange = exchange;
    this.#dataset = dataset;
    this.#key = request.header(IDEMPOTENCY_HEADER);
    this.#id = services.jobs.reserve(caller.key.account);
    if (this.#key !== '') services.underWay.add(this.#mark);
    if (asked !== null) this.#upload = this.#open(asked);
    exchange.listen(this);
  }

  data(piece: Uint8Array, isLast: boolean): void {
    if (this.#over) return;
    if (this.#upload !== null) return this.#upload.push(piece, isLast);
    if (this.#body === null) return;
    this.#bodyBytes += piece.length;
    if (this.#bodyBytes > JOB_BODY_BYTES_MAX) {
      this.#body = null;
      return this.#refuse(tooLarge('A body that names a file', JOB_BODY_BYTES_MAX));
    }
    this.#body = grown(this.#body, piece);
    if (isLast) void this.#guard(this.#named(this.#body));
  }

  drained(): void {
    // The answer is sent at once, so there is nothing to wait for.
  }

  waiting(): boolean {
    return !this.#over;
  }

  idle(): void {
    this.#refuse(problem(408, silence(this.#services.jobs.options.limits.idleMs)));
  }

  closed(): void {
    this.#drop();
  }

  get #mark(): string {
    return `${this.#caller.key.account}\n${this.#key}`;
  }

  #open(asked: AskedJob): JobUpload {
    this.#kind = asked.bulk.kind;
    const { jobs } = this.#services;
    const { query } = this.#caller;
    const { space, limits } = jobs.options;
    const type = this.#request.header('content-type');
    return new JobUpload({
      id: this.#id,
      space,
      gzip: asked.bulk.gzipIn,
      bytesMax: limits.bytesMax,
      body: this.#exchange,
      done: ({ identity, sha256 }) =>
        void this.#guard(
          this.#arrived({
            asked,
            identity,
            fingerprint: [type, asked.bulk.output, query, sha256].join('\n'),
          }),
        ),
      failed: (why) => this.#refuse(why),
    });
  }

  /** Creates the job of a body that names a file. */
  async #named(body: Buffer): Promise<void> {
    const { jobs } = this.#services;
    const found = await askedOfFile(this.#services, this.#caller.key, body, (kind) => {
      this.#kind = kind;
    });
    if (isProblem(found)) return this.#refuse(found);
    const spent = spentRefusal(jobs.options.usage, this.#caller.key, found.asked.bulk);
    if (spent !== null) return this.#send(this.#caller.refuse(spent));
    await this.#arrived({ ...found, fingerprint: body.toString('utf8') });
  }

  async #arrived({ asked, identity, fingerprint }: Arrived): Promise<void> {
    const { jobs, idempotency } = this.#services;
    const { space, filesDir } = jobs.options;
    const { file, bulk } = asked;
    const { account } = this.#caller.key;
    const path =
      file === null
        ? space.input(this.#id)
        : ((await allowedFile(filesOf(filesDir ?? '', account), file))?.path ?? '');
    const begun = await readBeginning(fileSource(path, identity), bulk);
    if (begun !== null && isProblem(begun)) return this.#refuse(begun);
    if (this.#over) return;
    if (this.#key === '') return this.#create(asked, identity, null);
    const claimed = idempotency.claim({
      account: this.#caller.key.account,
      key: this.#key,
      path: JOBS_PATH,
      body: Buffer.from(fingerprint),
    });
    if (claimed.kind !== 'fresh') return this.#taken(claimed);
    try {
      await this.#create(asked, identity, claimed);
    } catch (error) {
      if (!(error instanceof KeyTaken)) throw error;
      this.#taken(error.claimed);
    } finally {
      claimed.claim.end();
    }
  }

  /** Answers where the Idempotency-Key is in use or was used before, so that no job is created. */
  #taken(claimed: Exclude<Claimed, { readonly kind: 'fresh' }>): void {
    if (claimed.kind === 'kept') return this.#send(replayed(claimed.answer, this.#caller.fields));
    this.#refuse(takenKey(claimed.kind, 'body'));
  }

  async #create(
    { bulk, file }: AskedJob,
    { bytes, modifiedMs }: FileIdentity,
    claimed: Extract<Claimed, { readonly kind: 'fresh' }> | null,
  ): Promise<void> {
    const { jobs, baseUrl } = this.#services;
    const { key, fields } = this.#caller;
    const { kind, input, output, strict, map, delimiter, defaults, kept } = bulk;
    let reply: Reply | null = null;
    // From here on the job is created even if the client closes the connection.
    this.#done();
    const uploaded = file === null ? await jobs.keeper.keepUpload(this.#id, bytes) : '';
    await jobs.create(
      {
        id: this.#id,
        key,
        file,
        kept: uploaded,
        inputBytes: bytes,
        inputModifiedMs: modifiedMs,
        dataset: kept?.dataset ?? this.#dataset,
        request: {
          kind,
          input,
          output,
          strict,
          map,
          delimiter,
          defaults,
          nowMs: kept?.atMs ?? jobs.options.now(),
          settings: jobs.options.settings,
        },
      },
      (transaction, view) => {
        const head = headOf(JSON_TYPE, {
          ...fields,
          Location: `${baseUrl}${JOBS_PATH}/${view.record.id}`,
        });
        reply = { status: 202, head, body: jobBody(view) };
        claimed?.claim.keep(transaction, keptOf(reply));
      },
    );
    if (reply !== null) this.#exchange.send(reply);
  }

  /** Waits for `work`. What it throws is answered as a refusal, and the job is dropped. */
  async #guard(work: Promise<void>): Promise<void> {
    try {
      await work;
    } catch (error) {
      this.#services.log.error('job not made', { fault: faultOf(error) });
      this.#refuse(storeRefusal(error) ?? diskRefusal(error));
    }
  }

  #refuse(why: Problem): void {
    this.#send(noJob(this.#caller, this.#services.jobs.options.limits, this.#kind, why));
  }

  #send(reply: Reply): void {
    this.#drop();
    this.#exchange.send(reply);
  }

  /** Marks the request as finished, so that nothing has to be undone any more. */
  #done(): void {
    this.#over = true;
    if (this.#key !== '') this.#services.underWay.delete(this.#mark);
  }

  #drop(): void {
    if (this.#over) return;
    this.#done();
    const opening = this.#upload?.close();
    if (opening === undefined) this.#services.jobs.drop(this.#id);
    else void this.#guard(opening.then(() => this.#services.jobs.drop(this.#id)));
  }
}
