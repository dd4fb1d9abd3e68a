/**
 * GET /system/health: public, and 200 as long as anything is served. GET /system/metadata: public;
 * what runs where.
 */
import type { LiveRelease, Refusal } from '../../dataset/live.js';
import type { FleetStatus } from '../../distribution/follower.js';
import { headOf, JSON_TYPE } from '../../http/reply.js';
import type { Route } from '../../http/router.js';
import type { Readiness } from './ready.js';
import { hostname } from 'node:os';

export interface HealthServices {
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
  const reason = dataset === null
    ? 'no dataset is named as the active one' : 'the dataset is not sound; the log says why';
  return { dataset, reason };
}

/** What is public of a fleet: why something is not prepared may name folders, and is in the log. */
function fleetOf({ reached, active, prepared, problem }: FleetStatus): object {
  return {
    place: reached ? 'ok' : 'connection_error', dataset: active, prepared,
    ...(problem === null ? {} : {
      problem: { dataset: problem.dataset, reason: 'it cannot be prepared; the log says why' },
    }),
  };
}

/**
 * `unready` is there only while the service should be sent nothing, and says why. `refused` is
 * there only while a release is activated that does not answer: `dataset` then is the one before.
 * `servers` is there only while there are several on the store, `fleet` only where one is followed,
 * `limits` only where rate windows are shared with other nodes.
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
    ...(reasons.length === 0 ? {} : { unready: reasons }),
    ...(refused === null ? {} : { refused: refusedOf(refused) }),
    ...(fleet === null ? {} : { fleet: fleetOf(fleet) }),
  });
}

export function healthRoute(services: HealthServices): Route {
  return {
    method: 'GET',
    path: '/system/health',
    bodyBytesMax: 0,
    deadlineMs: 0,
    handle: (_request, answer) => {
      answer.send({ status: 200, head: headOf(JSON_TYPE), body: healthBody(services) });
    },
  };
}

/** Clients' types declare `go_version` as a string; this runtime has none. */
function metadataBody(): string {
  return JSON.stringify({
    go_version: '', hostname: hostname(), runtime_version: `node ${process.version}`,
  });
}

export function metadataRoute(): Route {
  const body = metadataBody();
  return {
    method: 'GET',
    path: '/system/metadata',
    bodyBytesMax: 0,
    deadlineMs: 0,
    handle: (_request, answer) => {
      answer.send({ status: 200, head: headOf(JSON_TYPE), body });
    },
  };
}
