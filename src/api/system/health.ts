/**
 * GET /system/health: public, and 200 as long as the service answers at all. GET /system/metadata:
 * public; host and runtime.
 */
import { hostname } from 'node:os';
import type { LiveRelease, Refusal } from '../../dataset/live.js';
import type { FleetStatus } from '../../distribution/fleet-place.js';
import { headOf, JSON_TYPE } from '../../http/reply.js';
import type { Route } from '../../http/router.js';
import type { Log } from '../../log.js';
import { openRoute } from '../../http/duplex-route.js';

/*
 * GET /system/live and GET /system/ready: public. A service is live if it answers, and ready if
 * requests should be sent to it. Reasons for not being ready are words of a fixed list, which
 * `situs doctor` and the log use too.
 */

/** Why the service is not ready: the text of a sentence, without a full stop. */
export const UNREADY = {
  starting: 'no worker has begun to answer yet',
  draining: 'the service is being stopped',
  dataset: 'no dataset is loaded',
  fleet: 'it does not answer from the dataset that is active for the fleet',
  workers: 'no worker answers',
  store: 'the store takes no writes',
  provider: 'the compliance provider cannot be reached',
} as const satisfies Readonly<Record<string, string>>;

type Unready = keyof typeof UNREADY;

/** Whether a word is one of the reasons. */
export function isUnready(word: unknown): word is Unready {
  return typeof word === 'string' && Object.hasOwn(UNREADY, word);
}

export interface ReadyServices {
  /** Whether the service was told to stop. */
  draining(): boolean;
  hasDataset(): boolean;
  /** Whether it answers from the fleet's dataset; true where it belongs to no fleet. */
  followsFleet(): boolean;
  /** Whether a worker serves. */
  serving(): boolean;
  /** Whether the last write to the store succeeded; where it failed, another one is begun. */
  storeTakes(): boolean;
  /** Whether the compliance provider can be reached; true where that is not required. */
  providerReached(): boolean;
}

/**
 * Finds why the service is not ready, the most serious reason first. It has started once a worker
 * serves.
 */
export class Readiness {
  readonly #services: ReadyServices;
  readonly #log: Log;
  #begun = false;
  /** The reasons at the last line of the log. Nothing is logged while the service starts. */
  #told = 'starting';

  /** Each change of the reasons is logged when a caller asks for them. */
  constructor(services: ReadyServices, log: Log) {
    this.#services = services;
    this.#log = log;
  }

  get reasons(): readonly Unready[] {
    const reasons = this.#find();
    const told = reasons.join(' ');
    if (told !== this.#told && !reasons.includes('starting')) {
      this.#told = told;
      if (reasons.length === 0) this.#log.info('ready');
      else this.#log.warn('not ready', { reasons: told });
    }
    return reasons;
  }

  #find(): readonly Unready[] {
    const services = this.#services;
    const serving = services.serving();
    this.#begun ||= serving;
    const found: readonly (readonly [boolean, Unready])[] = [
      [services.draining(), 'draining'],
      [!serving, this.#begun ? 'workers' : 'starting'],
      [!services.hasDataset(), 'dataset'],
      [!services.followsFleet(), 'fleet'],
      [!services.storeTakes(), 'store'],
      [!services.providerReached(), 'provider'],
    ];
    return found.filter(([is]) => is).map(([, reason]) => reason);
  }
}

/** 200 where the service is ready; otherwise 503 with the reasons. */
export function readyRoute(readiness: Readiness): Route {
  return openRoute('/system/ready', () => {
    const { reasons } = readiness;
    const [status, word] =
      reasons.length === 0 ? ([200, 'ready'] as const) : ([503, 'unready'] as const);
    return { status, head: headOf(JSON_TYPE), body: JSON.stringify({ status: word, reasons }) };
  });
}

/** Answers that the service is live, whatever its state. */
export function liveRoute(): Route {
  const body = '{"status":"live"}';
  return openRoute('/system/live', () => ({ status: 200, head: headOf(JSON_TYPE), body }));
}

interface HealthServices {
  release(): LiveRelease | null;
  /**
   * Why a release that was activated does not answer, so that another one does; null where that is
   * not so.
   */
  refusal(): Refusal | null;
  /** Null where the service belongs to no fleet. */
  fleet(): FleetStatus | null;
  /** Throws when the store does not answer. */
  askStore(): void;
  readonly readiness: Readiness;
  /** How many servers share the store, including this one. */
  servers(): number;
  /** Whether rate windows are shared with other nodes now; null where sharing is not set. */
  limits?(): { readonly shared: boolean } | null;
  /** Whether the broker of files can be reached; null where files are not spread over a fleet. */
  files?(): { readonly reached: boolean } | null;
}

function storeState(services: HealthServices): 'ok' | 'connection_error' {
  try {
    services.askStore();
    return 'ok';
  } catch {
    return 'connection_error';
  }
}

/** Stale lists do not make the data incomplete: they are used for answers, and named in `stale`. */
function taxdataState(release: LiveRelease | null): 'ok' | 'empty' {
  return release === null || release.areas === 0 ? 'empty' : 'ok';
}

/** The public part of a refusal. Its full reason may name folders, so only the log has it. */
function refusedOf({ dataset }: Refusal): Refusal {
  const reason =
    dataset === null
      ? 'no dataset is named as the active one'
      : 'the dataset is not sound; the log says why';
  return { dataset, reason };
}

/**
 * The public part of a fleet's state. Why a dataset cannot be prepared may name folders, so only
 * the log has it.
 */
function fleetOf({ reached, active, prepared, problem }: FleetStatus): object {
  return {
    place: reached ? 'ok' : 'connection_error',
    dataset: active,
    prepared,
    ...(problem === null
      ? {}
      : {
          problem: { dataset: problem.dataset, reason: 'it cannot be prepared; the log says why' },
        }),
  };
}

/**
 * The body of /system/health. Some members are there only in these cases: `unready`, with the
 * reasons, while no requests should be sent to the service; `refused` while a release was activated
 * but does not answer (`dataset` is then the one before); `servers` where several share the store;
 * `fleet` where the service belongs to one; `limits` where rate windows are shared with other
 * nodes; `files` where files of rows are spread over a fleet. `dynamo` is the name of the local
 * store in clients' types.
 */
function healthBody(services: HealthServices): string {
  const release = services.release();
  const store = storeState(services);
  const refused = services.refusal();
  const fleet = services.fleet();
  const { reasons } = services.readiness;
  const servers = services.servers();
  const limits = services.limits?.() ?? null;
  const files = services.files?.() ?? null;
  return JSON.stringify({
    status: 'ok',
    components: {
      dynamo: store,
      taxdata: taxdataState(release),
      taxdata_count: release?.areas ?? 0,
      store,
    },
    dataset: release?.id ?? null,
    stale: release?.stale ?? [],
    ...(servers < 2 ? {} : { servers }),
    ...(limits === null ? {} : { limits: limits.shared ? 'shared' : 'own share' }),
    ...(files === null ? {} : { files: files.reached ? 'ok' : 'connection_error' }),
    ...(reasons.length === 0 ? {} : { unready: reasons }),
    ...(refused === null ? {} : { refused: refusedOf(refused) }),
    ...(fleet === null ? {} : { fleet: fleetOf(fleet) }),
  });
}

/** Tells whether store and dataset can answer; the status is always 200. */
export function healthRoute(services: HealthServices): Route {
  return openRoute('/system/health', () => ({
    status: 200,
    head: headOf(JSON_TYPE),
    body: healthBody(services),
  }));
}

/** Clients' types declare `go_version` as a string; it is empty, since this is not Go. */
function metadataBody(): string {
  return JSON.stringify({
    go_version: '',
    hostname: hostname(),
    runtime_version: `node ${process.version}`,
  });
}

/** Tells the host and the runtime. */
export function metadataRoute(): Route {
  const body = metadataBody();
  return openRoute('/system/metadata', () => ({ status: 200, head: headOf(JSON_TYPE), body }));
}
