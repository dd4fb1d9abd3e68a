/**
 * GET /system/live and GET /system/ready: public. Live is whoever answers at all; ready is who
 * should be sent requests. What keeps the service from it is named in words of a fixed list, which
 * `situs doctor` and the log have too.
 */
import { headOf, JSON_TYPE } from '../../http/reply.js';
import type { Route } from '../../http/router.js';

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

export type Unready = keyof typeof UNREADY;

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
  #begun = false;

  constructor(services: ReadyServices) {
    this.#services = services;
  }

  get reasons(): readonly Unready[] {
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
  return {
    method: 'GET',
    path: '/system/ready',
    bodyBytesMax: 0,
    deadlineMs: 0,
    handle: (_request, answer) => {
      const { reasons } = readiness;
      const [status, word] = reasons.length === 0 ? [200, 'ready'] : [503, 'unready'];
      const body = JSON.stringify({ status: word, reasons });
      answer.send({ status, head: headOf(JSON_TYPE), body });
    },
  };
}

/** That this is answered says all. */
export function liveRoute(): Route {
  return {
    method: 'GET',
    path: '/system/live',
    bodyBytesMax: 0,
    deadlineMs: 0,
    handle: (_request, answer) => {
      answer.send({ status: 200, head: headOf(JSON_TYPE), body: '{"status":"live"}' });
    },
  };
}
