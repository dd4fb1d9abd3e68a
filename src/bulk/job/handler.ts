/**
 * Bulk jobs: POST /bulk/jobs makes one of an upload or of a file in the allowed folder, GET lists
 * them and tells of one, GET …/result sends what it wrote, DELETE cancels or removes it. A job of
 * another account is answered like one that never was.
 *
 * A job is made in this order: key (401), rate (429), plan (403), format and options (406, 415,
 * 422), room for one more job (429 with the limit), quota (405 with code 107), dataset (503), the
 * body (408, 413, 422, 507 with the limit), and the Idempotency-Key (400, 409, 422).
 */
import { StoreFault } from '../../store/fault.js';
import { faultOf, type Log } from '../../log.js';
import type { JobRecord } from '../../store/jobs.js';
import { JOB_PATH, jobBody, JOBS_PATH, RESULT_PATH } from '../row/job-body.js';
import { openJob } from './begin-job.js';
import type { JobFiles } from './job-keeper.js';
import { JobRegistry } from './registry.js';
import { JobElsewhere, type JobMember } from './ownership.js';
import { missing, sendResult } from './result.js';
import { type Caller, rowsRefusal } from '../../http/gate.js';
import { type Answerer, headOf, isReply, JSON_TYPE, type Request } from '../../http/reply.js';
import { DEADLINE_MS, type Route } from '../../http/router.js';
import { duplexRoute } from '../../http/duplex-route.js';
import { bulkRules, type BulkServices } from '../run/handler.js';
import type { CreationServices } from './create.js';
import type { Store } from '../../store/store.js';
import type { Uploads } from '../run/uploads.js';
import type { JobKind, JobReleases, RunnerServices } from './runner.js';
import { JobSpace, jobsDirOf, type SpaceLimits } from './space.js';

interface JobServices extends Pick<BulkServices, 'gate' | 'baseUrl'>, CreationServices {
  readonly jobs: JobRegistry;
  readonly log: Log;
}

/** The id in a path of jobs. */
function idOf(path: string): string {
  return path.split('/')[3] ?? '';
}

const RULES = bulkRules(JOBS_PATH);

/** Runs what answers a caller about one job. */
function withJob(
  services: JobServices,
  request: Request,
  answer: Answerer,
  handle: (caller: Caller, record: JobRecord) => void,
): void {
  const caller = services.gate.admit(RULES, request);
  if (isReply(caller)) return answer.send(caller);
  let record: JobRecord | null;
  try {
    record = services.jobs.find(caller.key.account, idOf(request.path));
  } catch (error) {
    if (!(error instanceof StoreFault)) throw error;
    return answer.send(caller.problem(503, error.detail));
  }
  if (record === null) return answer.send(missing(caller));
  const unscoped = rowsRefusal(caller.key, services.jobs.view(record).kind);
  if (unscoped === null) handle(caller, record);
  else answer.send(caller.problem(403, unscoped));
}

const ELSEWHERE =
  'The server that runs the job has been asked to cancel it and has not done so ' +
  'yet; ask again.';

function listRoute(services: JobServices): Route {
  return {
    method: 'GET',
    path: JOBS_PATH,
    bodyBytesMax: 0,
    deadlineMs: 0,
    ask: services.gate.asking(RULES),
    handle: (request, answer) => {
      const caller = services.gate.admit(RULES, request);
      if (isReply(caller)) return answer.send(caller);
      const { jobs } = services;
      const bodies = jobs
        .list(caller.key.account)
        .map((record) => jobs.view(record))
        .filter(({ kind }) => rowsRefusal(caller.key, kind) === null)
        .map(jobBody);
      const head = headOf(JSON_TYPE, caller.fields);
      answer.send({ status: 200, head, body: `{"jobs":[${bodies.join(',')}]}` });
    },
  };
}

function oneRoute(services: JobServices): Route {
  return {
    method: 'GET',
    path: JOB_PATH,
    bodyBytesMax: 0,
    deadlineMs: 0,
    ask: services.gate.asking(RULES),
    handle: (request, answer) =>
      withJob(services, request, answer, ({ fields }, record) => {
        const body = jobBody(services.jobs.view(record));
        answer.send({ status: 200, head: headOf(JSON_TYPE, fields), body });
      }),
  };
}

function removeRoute(services: JobServices): Route {
  return {
    method: 'DELETE',
    path: JOB_PATH,
    bodyBytesMax: 0,
    deadlineMs: DEADLINE_MS,
    ask: services.gate.asking(RULES),
    handle: (request, answer) =>
      withJob(services, request, answer, (caller, record) => {
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
            answer.send(
              error instanceof StoreFault
                ? caller.problem(503, error.detail)
                : caller.problem(500, 'The service failed to answer.'),
            );
          });
      }),
  };
}

/** The routes of jobs. */
function jobRoutes(services: JobServices): readonly Route[] {
  const { idleMs } = services.jobs.options.limits;
  const ask = services.gate.asking(RULES);
  return [
    duplexRoute(
      'POST',
      JOBS_PATH,
      {
        idleMs,
        open: (request, exchange) => {
          const caller = services.gate.admit(RULES, request);
          if (isReply(caller)) exchange.send(caller);
          else openJob(services, caller, request, exchange);
        },
      },
      ask,
    ),
    listRoute(services),
    oneRoute(services),
    duplexRoute(
      'GET',
      RESULT_PATH,
      {
        idleMs,
        open: (request, exchange) =>
          withJob(services, request, exchange, (caller, record) =>
            sendResult(services.jobs, request, exchange, caller, record),
          ),
      },
      ask,
    ),
    removeRoute(services),
  ];
}

/** What jobs are opened with: their folder, their registry and their routes. */
interface OpenJobOptions
  extends Pick<BulkServices, 'gate' | 'baseUrl'>,
    Pick<CreationServices, 'idempotency' | 'log'>,
    Pick<RunnerServices, 'keyOf' | 'filesDir' | 'findMerchant' | 'usage' | 'fleet' | 'settings'> {
  readonly releases: CreationServices['releases'] & JobReleases;
  /** What days are counted by. */
  readonly age: () => number;
  readonly store: Store;
  /** For servers on one database, which find one another's jobs. */
  readonly files: JobFiles | null;
  /** This server among those of the store, and the name of its folder of jobs. */
  readonly member: JobMember;
  readonly place: string;
  readonly varDir: string;
  /** Whose workers, limits and turns jobs share. */
  readonly uploads: Uploads;
  readonly kinds: readonly JobKind[];
  readonly limits: SpaceLimits;
  readonly days: number;
}

export interface JobParts {
  readonly routes: readonly Route[];
  readonly jobs: JobRegistry;
}

/** Opens the routes and what they need; jobs run from `jobs.start()` to `jobs.stop()`. */
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
