/** Windows in a Redis or Valkey that all processes of a fleet ask. */
import { createHash, randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { WINDOW_MS } from '../http/rate-window.js';
import { messageOf } from '../log.js';
import {
  type SharedWindows,
  type WindowAnswer,
  type WindowDebt,
  type WindowQuestion,
  WindowsLost,
} from './port.js';
import type { RedisAddress } from './redis-address.js';
import { WINDOW_SCRIPT } from './redis-script.js';

/** A connection on which no answer comes for so long is cut and opened again. */
const SILENCE_MS_MAX = 2_000;
const CONNECT_MS_MAX = 2_000;
/** Pauses before the next attempt to connect. */
const RETRY_MS_MIN = 50;
const RETRY_MS_MAX = 1_000;
/** Most keys of one call, since other calls wait for it. */
const CALL_KEYS_MAX = 128;

const SCRIPT_SHA1 = createHash('sha1').update(WINDOW_SCRIPT).digest('hex');

/** Set by tests only. */
interface RedisWindowsOptions {
  readonly windowMs?: number;
  /** Returns microseconds; the server's own clock is used where this is absent. */
  readonly clock?: () => number;
}

export class RedisWindows implements SharedWindows {
  readonly #redis: Redis;
  /** In braces, so that a cluster keeps all keys of a call on one node. */
  readonly #prefix: string;
  readonly #windowMicroseconds: string;
  readonly #clock: (() => number) | null;
  /** The name for windows that have none; a number is added that is never used again. */
  readonly #candidate = randomUUID();
  #calls = 0;
  /** The name of the windows that answered last; empty at first. */
  #memory = '';
  /** The last error of the connection. */
  #fault = '';

  constructor(address: RedisAddress, { windowMs = WINDOW_MS, clock }: RedisWindowsOptions = {}) {
    this.#prefix = `{${address.prefix}}:`;
    this.#windowMicroseconds = String(windowMs * 1_000);
    this.#clock = clock ?? null;
    this.#redis = connect(address);
    this.#redis.on('error', (error: unknown) => {
      this.#fault = messageOf(error);
    });
  }

  async ask(questions: readonly WindowQuestion[], holder = ''): Promise<readonly WindowAnswer[]> {
    const replies = await Promise.all(
      parts(questions).map((part) =>
        this.#call(
          'take',
          holder,
          part,
          part.flatMap(({ rate, count, ahead }) =>
            ahead === undefined
              ? [`${rate}`, `${count}`, '0', '0', '0']
              : [`${rate}`, `${count}`, `${ahead.used}`, `${ahead.keep}`, `${ahead.want}`],
          ),
        ),
      ),
    );
    const answers: WindowAnswer[] = [];
    for (const numbers of replies) {
      // The first element is the name.
      for (let at = 1; at + 2 < numbers.length; at += 3) {
        const [admitted, left, held] = [numbers[at], numbers[at + 1], numbers[at + 2]].map(Number);
        answers.push({ admitted: admitted!, left: left!, held: held! });
      }
    }
    return answers;
  }

  async settle(debts: readonly WindowDebt[]): Promise<void> {
    await Promise.all(
      parts(debts).map((part) =>
        this.#call(
          'settle',
          '',
          part,
          part.flatMap(({ admitted }) => [
            String(admitted.length),
            ...admitted.flatMap(([ageMs, count]) => [`${ageMs}`, `${count}`]),
          ]),
        ),
      ),
    );
  }

  close(): Promise<void> {
    this.#redis.disconnect();
    return Promise.resolve();
  }

  /** What the server reports about itself. */
  async info(): Promise<string> {
    return String(await this.#redis.call('INFO'));
  }

  async #call(
    verb: 'take' | 'settle',
    holder: string,
    named: readonly { readonly id: string }[],
    more: readonly string[],
  ): Promise<readonly unknown[]> {
    const keys = [`${this.#prefix}memory`];
    for (const { id } of named) keys.push(`${this.#prefix}w:${id}`, `${this.#prefix}o:${id}`);
    const known = this.#memory;
    this.#calls += 1;
    const time = this.#clock === null ? '' : String(this.#clock());
    const call = [
      String(keys.length),
      ...keys,
      known,
      `${this.#candidate}.${this.#calls}`,
      time,
      this.#windowMicroseconds,
      verb,
      holder,
      ...more,
    ];
    const reply = await this.#run(call);
    if (!Array.isArray(reply)) throw new Error('the server answers something else');
    const memory = String(reply[0]);
    this.#memory = memory;
    if (memory !== known && known !== '') throw new WindowsLost(memory);
    return reply;
  }

  async #run(call: readonly string[]): Promise<unknown> {
    try {
      return await this.#redis.call('EVALSHA', SCRIPT_SHA1, ...call);
    } catch (error) {
      const message = messageOf(error);
      // Redis sends no code beside the text of an error; its first word is the code.
      if (message.startsWith('NOSCRIPT')) {
        return this.#redis.call('EVAL', WINDOW_SCRIPT, ...call);
      }
      const isDown = this.#redis.status !== 'ready' && this.#fault !== '';
      throw new Error(isDown ? this.#fault : message);
    }
  }
}

function connect({ host, port, socket, username, password, database, tls }: RedisAddress): Redis {
  return new Redis({
    ...(socket === '' ? { host, port } : { path: socket }),
    ...(username === '' ? {} : { username }),
    ...(password === '' ? {} : { password }),
    ...(tls ? { tls: { servername: host } } : {}),
    db: database,
    protocol: 2,
    // What cannot be sent at once is decided in this process, and nothing is sent twice.
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    connectTimeout: CONNECT_MS_MAX,
    socketTimeout: SILENCE_MS_MAX,
    disableClientInfo: true,
    retryStrategy: (times) => Math.min(RETRY_MS_MAX, RETRY_MS_MIN * 2 ** Math.min(times, 10)),
  });
}

function parts<T>(items: readonly T[]): readonly (readonly T[])[] {
  if (items.length <= CALL_KEYS_MAX) return [items];
  const found: (readonly T[])[] = [];
  for (let at = 0; at < items.length; at += CALL_KEYS_MAX) {
    found.push(items.slice(at, at + CALL_KEYS_MAX));
  }
  return found;
}
