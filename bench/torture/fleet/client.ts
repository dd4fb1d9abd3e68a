/** A client of a fleet: asks any node, and another one when it has no answer. */
import { request } from 'node:http';
import { type Answer, answerTo } from '../service.js';
import { FLEET_KEY } from './node.js';

/** A node that has not answered by then is taken for one that is cut off. */
const PATIENCE_MS = 12_000;
const PAUSE_MS = 100;
/**
 * What was written at another node may not be known here for so long: a second, and after a cut until
 * the node is at its database again or calls itself not ready.
 */
const STALE_MS = 30_000;
/** Before a write under a key: answers kept for these have a share of the store. */
const WRITE_PAUSE_MS = 200;
/** Longest time until some node answers. */
const GIVE_UP_MS = 120_000;

export interface FleetAsk {
  readonly method: string;
  readonly path: string;
  readonly body?: string;
  readonly type?: string;
  readonly key?: string;
  readonly idempotencyKey?: string;
  /** In place of PATIENCE_MS, where an answer is long. */
  readonly patienceMs?: number;
}

/** One request to one node. Rejects when no whole answer came in time. */
export async function askNode(base: string, ask: FleetAsk): Promise<Answer> {
  const { method, path, body = '', type = 'application/json', key = FLEET_KEY } = ask;
  const signal = AbortSignal.timeout(ask.patienceMs ?? PATIENCE_MS);
  const sent = request(base + path, {
    method,
    signal,
    agent: false,
    headers: {
      'Content-Type': type,
      'X-API-KEY': key,
      ...(ask.idempotencyKey === undefined ? {} : { 'Idempotency-Key': ask.idempotencyKey }),
    },
  });
  sent.on('error', () => undefined);
  sent.end(body);
  return answerTo(sent, signal);
}

export class FleetClient {
  /** Requests that were sent again, to another node or the same. */
  repeated = 0;
  /** No new request is sent. */
  stopping = false;
  readonly #bases: readonly string[];
  readonly #random: () => number;

  constructor(bases: readonly string[], random: () => number) {
    this.#bases = bases;
    this.#random = random;
  }

  /** Any node. */
  pick(): string {
    return this.#bases[Math.floor(this.#random() * this.#bases.length)] ?? '';
  }

  /** @throws Error when it is stopping, or no node answers for long. */
  async post(path: string, body: object, idempotencyKey?: string): Promise<Answer> {
    if (this.stopping) throw new Error('stopping');
    if (idempotencyKey !== undefined) {
      await new Promise((resolve) => setTimeout(resolve, WRITE_PAUSE_MS));
    }
    return this.ask({
      method: 'POST',
      path,
      body: JSON.stringify(body),
      ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
    });
  }

  /**
   * Asks until a node answers for good: not 503, not that the same request is under way or that
   * nobody knows what became of it, which ends once the node that has it is taken for gone, and for a
   * write not at once that there is no such merchant.
   */
  async ask(ask: FleetAsk): Promise<Answer> {
    const from = performance.now();
    const until = from + GIVE_UP_MS;
    for (;;) {
      const answer = await askNode(this.pick(), ask).catch(() => null);
      const isUnknown =
        (answer?.status === 403 || answer?.status === 404) &&
        ask.idempotencyKey !== undefined &&
        performance.now() - from < STALE_MS;
      const isFinal = answer !== null && answer.status !== 503 && answer.status !== 409;
      if (isFinal && !isUnknown) return answer;
      if (performance.now() > until) {
        throw new Error(`${ask.path} was not answered by any node: ${answer?.text ?? 'silence'}`);
      }
      this.repeated += 1;
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  }
}
