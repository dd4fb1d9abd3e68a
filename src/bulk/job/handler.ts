/**
 * Bulk jobs. POST /bulk/jobs creates one from an upload or from a file in the allowed folder. GET
 * lists them or shows one, GET …/result sends the result, and DELETE cancels or removes a job. A
 * job of another account is answered like one that does not exist.
 *
 * Creation checks in this order: key (401), rate (429), plan (403), format and options (406, 415,
 * 422), the number of jobs (429 with the limit), quota (405 with code 107), dataset (503), the body
 * (408, 413, 422, 507 with the limit), and the Idempotency-Key (400, 409, 422).
 */
import { faultOf, type Log } from '../../log.js';
import type { JobRecord } from '../../store/jobs.js';
import { JOB_PATH, jobBody, JOBS_PATH, RESULT_PATH } from '../row/job-body.js';
import type { JobFiles } from './job-keeper.js';
import { JobRegistry } from './registry.js';
import { JobElsewhere, type JobMember } from './ownership.js';
import { missing, sendResult } from './result.js';
import { type Caller, rowsRefusal } from '../../http/gate.js';
import { type Answerer, headOf, JSON_TYPE, type Request } from '../../http/reply.js';
import { DEADLINE_MS, type Route } from '../../http/router.js';
import { gatedDuplexRoute, gatedRoute } from '../../http/duplex-route.js';
import { bulkRules, type BulkServices } from '../run/handler.js';
import { type CreationServices, JobCreation } from './create.js';
import type { Store } from '../../store/store.js';
import { spentRefusal } from '../run/kind.js';
import type { Uploads } from '../run/uploads.js';
import type { JobKind, JobReleases, RunnerServices } from './runner.js';
import { jobsDirOf, JobSpace, type SpaceLimits } from './space.js';
import type { DuplexExchange } from '../../http/duplex-exchange.js';
import { NO_RATES, refused } from '../run/request.js';
import { isProblem, limited, problem, type Problem } from '../../base/problem.js';
import { headRefusal, noJob, parseUpload } from './job-request.js';
import { diskRefusal } from './stored-body.js';
import { IDEMPOTENCY_HEADER, takenKey, unusableKey } from '../../http/idempotency-key.js';
import { FAULT_DETAIL, storeRefusal } from '../../http/problem-reply.js';

// The head of a request for a job: refuses it before its body is read, or begins the job.

/** The kind of rows that is assumed until the body has named it. */
const ANY_KIND = 'lookup';

/** Why an Idempotency-Key cannot be used for another job; null where it can. */
function unfitToken(
  { underWay }: CreationServices,
  account: string,
  token: string,
): Problem | null {
  const isUnderWay = underWay.has(`${account}\n${token}`);
  return unusableKey(token) ?? (isUnderWay ? takenKey('running', 'body') : null);
}

/** Begins a job, or refuses it before its body is read. */
function openJob(
  services: CreationServices,
  caller: Caller,
  request: Request,
  exchange: DuplexExchange,
): void {
  const { jobs, releases } = services;
  const { key, query } = caller;
  const { limits, kinds } = jobs.options;
  const refuse = (why: Problem): void => {
    const kind = asked === null || isProblem(asked) ? ANY_KIND : asked.bulk.kind;
    exchange.send(noJob(caller, limits, kind, why));
  };
  const isReference = /^\s*application\/json\s*(?:;|$)/i.test(request.header('content-type'));
  const asked = isReference
    ? null
    : parseUpload(
        (name) => request.header(name),
        query,
        kinds.map(({ kind }) => kind),
      );
  const [stray] = asked === null ? new URLSearchParams(query).keys() : [];
  if (stray !== undefined) {
    const detail = 'The options of a job that names a file are members of its body.';
    return refuse(refused(422, detail, `query.${stray}`));
  }
  if (asked !== null && isProblem(asked)) return refuse(asked);
  const refusal = headRefusal(services, key, request, asked);
  if (refusal !== null) return refuse(refusal);
  const token = request.header(IDEMPOTENCY_HEADER);
  const unfitKey = token === '' ? null : unfitToken(services, key.account, token);
  if (unfitKey !== null) return refuse(unfitKey);
  const limit = jobs.full(key.account);
  if (limit !== null) {
    return refuse(limited(429, `The account has ${limit} jobs; remove one or wait.`, limit));
  }
  const spent = asked === null ? null : spentRefusal(jobs.options.usage, key, asked.bulk);
  if (spent !== null) return exchange.send(caller.refuse(spent));
  const release = releases.pin();
  if (release === null) return refuse(problem(503, NO_RATES));
  releases.unpin(release);
  begin(services, caller, request, exchange, asked, release.id);
}

/**
 * Begins a job. Where the disk fails to make its folder, the refusal is the same as for its body.
 */
function begin(...job: ConstructorParameters<typeof JobCreation>): void {
  const [{ jobs, log }, caller, , exchange, asked] = job;
  try {
    void new JobCreation(...job);
  } catch (error) {
    log.error('job not made', { fault: faultOf(error) });
    const kind = asked?.bulk.kind ?? ANY_KIND;
    exchange.send(noJob(caller, jobs.options.limits, kind, diskRefusal(error)));
  }
}

interface JobServices extends Pick<BulkServices, 'gate'>, CreationServices {
  readonly jobs: JobRegistry;
  readonly log: Log;
}

/** The id in the path of a job. */
function idOf(path: string): string {
  return path.split('/')[3] ?? '';
}

const RULES = bulkRules(JOBS_PATH);

/** Finds the job of a request and calls `handle`, or refuses the request. */
function withJob(
  services: JobServices,
  caller: Caller,
  request: Request,
  answer: Pick<Answerer, 'send'>,
  handle: (record: JobRecord) => void,
): void {
  let record: JobRecord | null;
  try {
    record = services.jobs.find(caller.key.account, idOf(request.path));
  } catch (error) {
    const refusal = storeRefusal(error);
    if (refusal === null) throw error;
    return answer.send(caller.refuse(refusal));
  }
  if (record === null) return answer.send(missing(caller));
  const unscoped = rowsRefusal(caller.key, services.jobs.view(record).kind);
  if (unscoped === null) handle(record);
  else answer.send(caller.refuse(unscoped));
}

const ELSEWHERE =
  'The server that runs the job has been asked to cancel it and has not done so ' +
  'yet; ask again.';

function listRoute(services: JobServices): Route {
  const { gate, jobs } = services;
  return gatedRoute(gate, RULES, { method: 'GET', path: JOBS_PATH }, (caller, _, answer) => {
    const bodies = jobs
      .list(caller.key.account)
      .map((record) => jobs.view(record))
      .filter(({ kind }) => rowsRefusal(caller.key, kind) === null)
      .map(jobBody);
    const head = headOf(JSON_TYPE, caller.fields);
    answer.send({ status: 200, head, body: `{"jobs":[${bodies.join(',')}]}` });
  });
}

function oneRoute(services: JobServices): Route {
  const asked = { method: 'GET', path: JOB_PATH } as const;
  return gatedRoute(services.gate, RULES, asked, (caller, request, answer) =>
    withJob(services, caller, request, answer, (record) => {
      const body = jobBody(services.jobs.view(record));
      answer.send({ status: 200, head: headOf(JSON_TYPE, caller.fields), body });
    }),
  );
}

function removeRoute(services: JobServices): Route {
  const asked = { method: 'DELETE', path: JOB_PATH, deadlineMs: DEADLINE_MS } as const;
  return gatedRoute(services.gate, RULES, asked, (caller, request, answer) =>
    withJob(services, caller, request, answer, (record) => {
      const head = headOf(JSON_TYPE, caller.fields);
      services.jobs
        .remove(record)
        .then((left) => {
          answer.send(
            left === null
              ? { status: 204, head, body: '' }
              : { status: 200, head, body: jobBody(services.jobs.view(left)) },
          );
        })
        .catch((error: unknown) => {
          if (error instanceof JobElsewhere) return answer.send(caller.problem(503, ELSEWHERE));
          services.log.error('job not removed', { fault: faultOf(error) });
          answer.send(caller.refuse(storeRefusal(error) ?? problem(500, FAULT_DETAIL)));
        });
    }),
  );
}

/** The routes of jobs. */
function jobRoutes(services: JobServices): readonly Route[] {
  const { gate, jobs } = services;
  const { idleMs } = jobs.options.limits;
  return [
    gatedDuplexRoute(gate, RULES, { method: 'POST', path: JOBS_PATH, idleMs }, (...asked) =>
      openJob(services, ...asked),
    ),
    listRoute(services),
    oneRoute(services),
    gatedDuplexRoute(
      gate,
      RULES,
      { method: 'GET', path: RESULT_PATH, idleMs },
      (caller, request, exchange) =>
        withJob(services, caller, request, exchange, (record) =>
          sendResult(jobs, request, exchange, caller, record),
        ),
    ),
    removeRoute(services),
  ];
}

/** Options for opening jobs: their folder, registry and routes. */
interface OpenJobOptions
  extends Pick<BulkServices, 'gate'>,
    Pick<CreationServices, 'baseUrl' | 'idempotency' | 'log'>,
    Pick<RunnerServices, 'keyOf' | 'filesDir' | 'findMerchant' | 'usage' | 'fleet' | 'settings'> {
  readonly releases: CreationServices['releases'] & JobReleases;
  /** The clock that tells how many days ago a job ended. */
  readonly age: () => number;
  readonly store: Store;
  /** For servers on one store: keeps files where the other servers can reach them. */
  readonly files: JobFiles | null;
  /** This server as one of those on the store; `place` is the name of its folder of jobs. */
  readonly member: JobMember;
  readonly place: string;
  readonly varDir: string;
  /** The uploads of this server, whose workers, limits and schedule the jobs share. */
  readonly uploads: Uploads;
  readonly kinds: readonly JobKind[];
  readonly limits: SpaceLimits;
  readonly days: number;
}

export interface JobParts {
  readonly routes: readonly Route[];
  readonly jobs: JobRegistry;
}

/** Opens the routes of jobs and what they need. Jobs run from `jobs.start()` to `jobs.stop()`. */
export function openJobs(options: OpenJobOptions): JobParts {
  const { varDir, uploads, limits } = options;
  const jobs = new JobRegistry({
    ...options,
    space: new JobSpace(jobsDirOf(varDir), limits),
    schedule: uploads.schedule,
    limits: uploads.limits,
    now: uploads.now,
  });
  return { jobs, routes: jobRoutes({ ...options, jobs, underWay: new Set() }) };
}
