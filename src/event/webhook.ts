/**
 * Sends events to the configured endpoint: each attempt is one POST, and redirects are not
 * followed.
 */
import { Agent, request, type Dispatcher } from 'undici';
import { guardedConnect } from '../provider/connect.js';
import type { GuardOptions } from '../provider/guard.js';
import { openEventData, type EventVault } from '../store/event-seal.js';
import type { EventRecord } from '../store/outbox-record.js';
import { codeOf, failed, type FailedOutcome, type Outcome, retryAfter } from './attempt.js';
import { signatureFields, type Secret } from './event-signature.js';

/** ISO 8601 with a space: "2026-03-01 09:30:00.000Z". */
export function eventTime(at: number): string {
  return new Date(at).toISOString().replace('T', ' ');
}

/**
 * The body `{event, timestamp, data}`, which has the same bytes in every attempt. `data` is JSON.
 */
export function eventBody(
  { type, createdAt }: Pick<EventRecord, 'type' | 'createdAt'>,
  data: string,
): Uint8Array {
  const head = `"event":${JSON.stringify(type)},"timestamp":"${eventTime(createdAt)}"`;
  return Buffer.from(`{${head},"data":${data}}`, 'utf8');
}

/** Longest time from the start of an attempt to the end of the answer. */
export const ATTEMPT_MS_MAX = 20_000;
/** How much of an answer's body is read, and dropped, before the connection is closed. */
const ANSWER_BYTES_MAX = 65_536;

/** More bytes than a connection may receive at once. */
const ANSWER_AHEAD_BYTES = 16_777_216;

const GONE = 410;
/** Statuses by which the receiver, or a proxy before it, says that it is overloaded. */
const OVERLOADED: ReadonlySet<number> = new Set([429, 502, 504]);

export interface WebhookOptions {
  readonly url: string;
  readonly secrets: readonly Secret[];
  readonly guard: GuardOptions;
  readonly attemptMs?: number;
}

type Answer = Pick<Dispatcher.ResponseData, 'statusCode' | 'headers'>;

/** The outcome that an answer means. Only 2xx is success; anything else is repeated. */
function outcomeOf({ statusCode: status, headers }: Answer, now: number): Outcome {
  if (status >= 200 && status < 300) return { result: 'sent', status };
  const field = headers['retry-after'];
  const outcome: FailedOutcome = failed(`answered ${status}`, {
    status,
    retryAfterMs: retryAfter(typeof field === 'string' ? field : null, now),
    slow: OVERLOADED.has(status),
  });
  return status === GONE ? { ...outcome, result: 'gone' } : outcome;
}

export class WebhookSender {
  readonly kind = 'event';
  readonly #options: WebhookOptions;
  readonly #vault: Pick<EventVault, 'open'>;
  readonly #agent: Agent;
  readonly #attemptMs: number;

  constructor(options: WebhookOptions, vault: Pick<EventVault, 'open'>) {
    this.#options = options;
    this.#vault = vault;
    this.#attemptMs = options.attemptMs ?? ATTEMPT_MS_MAX;
    this.#agent = new Agent({ connect: guardedConnect(options.guard), pipelining: 0 });
  }

  /** Makes one attempt; `stop` cuts it short. Never rejects. */
  async send(record: EventRecord, now: number, stop: AbortSignal): Promise<Outcome> {
    const { url, secrets } = this.#options;
    const data = this.#dataOf(record);
    if (data === null) return failed('its data cannot be opened: a key is missing');
    const body = eventBody(record, data);
    const timestamp = Math.floor(now / 1_000);
    const late = AbortSignal.timeout(this.#attemptMs);
    const signal = AbortSignal.any([late, stop]);
    try {
      const answer = await request(url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'user-agent': 'Situs',
          ...signatureFields(secrets, { id: record.id, timestamp, body }),
        },
        body,
        dispatcher: this.#agent,
        // The body must not be paused before it is read: a connection that closes meanwhile would
        // end this process, by an error in undici.
        highWaterMark: ANSWER_AHEAD_BYTES,
        signal,
      });
      // The status alone decides, even where the body cannot be read.
      await answer.body.dump({ limit: ANSWER_BYTES_MAX }).catch(() => undefined);
      return outcomeOf(answer, now);
    } catch (error) {
      if (stop.aborted) return { result: 'interrupted' };
      return failed(late.aborted ? `no answer in ${this.#attemptMs} ms` : codeOf(error));
    }
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
  }

  #dataOf(record: EventRecord): string | null {
    try {
      return openEventData(this.#vault, record);
    } catch {
      return null;
    }
  }
}
