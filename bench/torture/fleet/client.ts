/** A client of a fleet: it asks any node, and another one if there is no answer. */
import { request } from 'node:http';
import { type Answer, answerTo } from '../service.js';
import { FLEET_KEY } from './node.js';

/** A node that has not answered in this time counts as cut off. */
const PATIENCE_MS = 12_000;
const PAUSE_MS = 100;
/**
 * How long a node may not know what was written at another one: a second, or after a cut until it
 * has reached its database again or reports that it is not ready.
 */
const STALE_MS = 30_000;
/**
 * A pause before a write with an Idempotency-Key, since answers kept for these use up a share of
 * the store.
 */
const WRITE_PAUSE_MS = 200;
/** How long it may take until some node answers. */
const GIVE_UP_MS = 120_000;

export interface FleetAsk {
  readonly method: string;
  readonly path: string;
  readonly body?: string;
  readonly type?: string;
  readonly key?: string;
  readonly idempotencyKey?: string;
  /** Replaces PATIENCE_MS, where an answer is long. */
  readonly patienceMs?: number;
}

/** Sends one request to one node. Rejects when no complete answer came in time. */
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
  /** How many requests were sent again, to another node or the same one. */
  repeated = 0;
  /** Set when no new requests are to be sent. */
  stopping = false;
  readonly #bases: readonly string[];
  readonly #random: () => number;

  constructor(bases: readonly string[], random: () => number) {
    this.#bases = bases;
    this.#random = random;
  }

  /** Picks any node. */
  pick(): string {
    return this.#bases[Math.floor(this.#random() * this.#bases.length)] ?? '';
  }

  /** @throws Error when the client is stopping, or no node answers for long. */
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
   * Asks until a node gives a final answer. Not final is a 503; nor a 409, which says that the same
   * request is under way, or that nobody knows its result: either ends when the node that has the
   * request counts as gone. For a write, it is not final at first that there is no such merchant.
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
