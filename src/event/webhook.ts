/** Sends events to the configured endpoint: one POST an attempt, no redirects followed. */
import { Agent, request, type Dispatcher } from 'undici';
import { guardedConnect } from '../provider/connect.js';
import type { GuardOptions } from '../provider/guard.js';
import { openEventData, type EventVault } from '../store/event-seal.js';
import type { EventRecord } from '../store/outbox-record.js';
import { codeOf, failed, type FailedOutcome, type Outcome, retryAfter } from './attempt.js';
import { signatureFields, type Secret } from './event-signature.js';

/** "2026-03-01 09:30:00.000Z": ISO 8601 with a space in it. */
export function eventTime(at: number): string {
  return new Date(at).toISOString().replace('T', ' ');
}

/** `{event, timestamp, data}`; the same bytes on every attempt. `data` is JSON. */
export function eventBody(
  { type, createdAt }: Pick<EventRecord, 'type' | 'createdAt'>,
  data: string,
): Uint8Array {
  const head = `"event":${JSON.stringify(type)},"timestamp":"${eventTime(createdAt)}"`;
  return Buffer.from(`{${head},"data":${data}}`, 'utf8');
}

/** From the start of an attempt to the whole answer. */
export const ATTEMPT_MS_MAX = 20_000;
/** What is read of an answer's body before the connection is given up. Nothing is kept of it. */
const ANSWER_BYTES_MAX = 65_536;

/** More than a connection may have at hand at once. */
const ANSWER_AHEAD_BYTES = 16_777_216;

const GONE = 410;
/** The receiver, or what stands before it, has too much to do. */
const OVERLOADED: ReadonlySet<number> = new Set([429, 502, 504]);

export interface WebhookOptions {
  readonly url: string;
  readonly secrets: readonly Secret[];
  readonly guard: GuardOptions;
  readonly attemptMs?: number;
}

type Answer = Pick<Dispatcher.ResponseData, 'statusCode' | 'headers'>;

/** What an answer means. Only 2xx is success; all else is to be repeated. */
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
        // Never paused before it is read: a close meanwhile would end this process (undici).
        highWaterMark: ANSWER_AHEAD_BYTES,
        signal,
      });
      // The status is the answer, whatever becomes of the rest.
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
