/**
 * GET /system/health: public, and 200 as long as anything is served. GET /system/metadata: public;
 * what runs where.
 */
import { hostname } from 'node:os';
import type { LiveRelease, Refusal } from '../../dataset/live.js';
import type { FleetStatus } from '../../distribution/fleet-place.js';
import { headOf, JSON_TYPE } from '../../http/reply.js';
import type { Route } from '../../http/router.js';
import type { Log } from '../../log.js';
import { openRoute } from '../../http/duplex-route.js';

/*
 * GET /system/live and GET /system/ready: public. Live is whoever answers at all; ready is who
 * should be sent requests. What keeps the service from it is named in words of a fixed list, which
 * `situs doctor` and the log have too.
 */

/** Why the service is not ready, as a sentence without its end. */
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

/** Tells a reason from any other word. */
export function isUnready(word: unknown): word is Unready {
  return typeof word === 'string' && Object.hasOwn(UNREADY, word);
}

export interface ReadyServices {
  /** The service was told to stop. */
  draining(): boolean;
  hasDataset(): boolean;
  /** It answers from the fleet's dataset; true where no fleet is followed. */
  followsFleet(): boolean;
  /** A worker serves. */
  serving(): boolean;
  /** The store took what was last written; asks anew where it did not. */
  storeTakes(): boolean;
  /** True where it is not required. */
  providerReached(): boolean;
}

/** What keeps the service from being ready, the gravest first; the first worker ends the start. */
export class Readiness {
  readonly #services: ReadyServices;
  readonly #log: Log;
  #begun = false;
  /** What was last found, as it is in the log; a start says of itself when it is over. */
  #told = 'starting';

  /** Each change that whoever asks finds is a line of the log. */
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

/** 200 where nothing keeps the service from being ready, else 503 with what does. */
export function readyRoute(readiness: Readiness): Route {
  return openRoute('/system/ready', () => {
    const { reasons } = readiness;
    const [status, word] =
      reasons.length === 0 ? ([200, 'ready'] as const) : ([503, 'unready'] as const);
    return { status, head: headOf(JSON_TYPE), body: JSON.stringify({ status: word, reasons }) };
  });
}

/** That this is answered says all. */
export function liveRoute(): Route {
  const body = '{"status":"live"}';
  return openRoute('/system/live', () => ({ status: 200, head: headOf(JSON_TYPE), body }));
}

interface HealthServices {
  release(): LiveRelease | null;
  /** Why another release than the named one answers, or null. */
  refusal(): Refusal | null;
  /** Null where no fleet is followed. */
  fleet(): FleetStatus | null;
  /** Throws when the store does not answer. */
  askStore(): void;
  readonly readiness: Readiness;
  /** How many servers are on the store, this one among them. */
  servers(): number;
  /** Where rate windows are shared with other nodes, whether they are now; null where not. */
  limits?(): { readonly shared: boolean } | null;
  /** Where files go over a fleet, whether its broker can be reached; null where not. */
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

/** "partial" never depends on stale lists: those answer, and are named beside. */
function taxdataState(release: LiveRelease | null): 'ok' | 'empty' {
  return release === null || release.areas === 0 ? 'empty' : 'ok';
}

/** What is public of a refusal: its reason may name folders, and is in the log. */
function refusedOf({ dataset }: Refusal): Refusal {
  const reason =
    dataset === null
      ? 'no dataset is named as the active one'
      : 'the dataset is not sound; the log says why';
  return { dataset, reason };
}

/** What is public of a fleet: why something is not prepared may name folders, and is in the log. */
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
 * `unready` is there only while the service should be sent nothing, and says why. `refused` is
 * there only while a release is activated that does not answer: `dataset` then is the one before.
 * `servers` is there only while there are several on the store, `fleet` only where one is followed,
 * `limits` only where rate windows are shared with other nodes, `files` only where files of rows go
 * over a fleet.
 * `dynamo` is what clients' types call the local store.
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

/** Whether store and dataset answer; always 200. */
export function healthRoute(services: HealthServices): Route {
  return openRoute('/system/health', () => ({
    status: 200,
    head: headOf(JSON_TYPE),
    body: healthBody(services),
  }));
}

/** Clients' types declare `go_version` as a string; this runtime has none. */
function metadataBody(): string {
  return JSON.stringify({
    go_version: '',
    hostname: hostname(),
    runtime_version: `node ${process.version}`,
  });
}

/** What runs where. */
export function metadataRoute(): Route {
  const body = metadataBody();
  return openRoute('/system/metadata', () => ({ status: 200, head: headOf(JSON_TYPE), body }));
}
