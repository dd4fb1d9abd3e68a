/**
 * The log of requests: one JSON line each, written behind the answers. Without being asked for, no
 * line holds a street address, a client's address or more of a key than `situs key list` shows.
 */
import { once } from 'node:events';
import { pino, destination, type Logger } from 'pino';
import type { RequestLogConfig } from '../config.js';
import { PRECISIONS } from '../engine/situs.js';
import { withoutSecrets } from '../http/api-key.js';
import type { RequestLine, RequestSink } from '../http/front.js';
import { messageOf, type Log } from '../log.js';
import { LOG_FILE_MODE, makeLogFile } from './log-file.js';

/** Bytes of lines that are written together; what is less is written within the time below. */
const BUFFER_BYTES = 8_192;
/** Of a pipe, which several servers may share: more than a page it may take in parts (POSIX). */
const PIPE_BYTES = 4_096;
const FLUSH_MS = 1_000;
/** Bytes that wait for a file that takes none; lines beyond them are dropped. */
const WAITING_BYTES_MAX = 4 * 1024 ** 2;
/** While it takes none every line may meet the fault, which is told once in this time. */
const TOLD_MS = 60_000;
/** How long what waits may take at the end: whoever reads a pipe may stand still. */
const CLOSE_MS_MAX = 1_000;
const REFUSED_FROM = 400;

/** Tells of something once in a while, however often it comes. */
function sparing<T>(tell: (of: T) => void): (of: T) => void {
  let told = -Infinity;
  return (of) => {
    const now = performance.now();
    if (now - told < TOLD_MS) return;
    told = now;
    tell(of);
  };
}

export class RequestLog implements RequestSink {
  readonly addresses: boolean;
  readonly traces = false;
  /** Names of operations by their index. */
  operations: readonly string[] = [];
  readonly #every: number;
  readonly #queries: boolean;
  readonly #file: ReturnType<typeof destination>;
  readonly #log: Logger;
  readonly #fault: (error: unknown) => void;
  /** Null for pipes and standard output. */
  readonly #path: string | null;
  #answered = 0;
  /** When a pipe that is full is given up. */
  #retriedUntil = Infinity;

  private constructor(dest: string | number, config: RequestLogConfig, log: Log) {
    const { every, clients, queries } = config;
    const isFile = typeof dest === 'string';
    const file = destination({
      dest,
      append: true,
      sync: false,
      ...(isFile
        ? { minLength: BUFFER_BYTES }
        : { minLength: PIPE_BYTES / 2, maxWrite: PIPE_BYTES }),
      retryEAGAIN: () => performance.now() < this.#retriedUntil,
      maxLength: WAITING_BYTES_MAX,
      periodicFlush: FLUSH_MS,
      mode: LOG_FILE_MODE,
    });
    this.addresses = clients;
    this.#every = every;
    this.#queries = queries;
    this.#path = isFile ? dest : null;
    this.#file = file;
    // A log that cannot be written is no reason to stop answering.
    this.#fault = (error) => log.error('request log not written', { message: messageOf(error) });
    file.on('error', sparing(this.#fault));
    file.on(
      'drop',
      sparing(() => log.error('requests not logged')),
    );
    this.#log = pino(
      {
        base: null,
        timestamp: () => `,"time":"${new Date().toISOString()}"`,
        formatters: { level: (level) => ({ level }) },
      },
      file,
    );
  }

  /**
   * Opens the log; null where none is asked for.
   * @throws Error that names the setting when the file cannot be written.
   */
  static async open(config: RequestLogConfig, log: Log): Promise<RequestLog | null> {
    const { path } = config;
    if (path === null) return null;
    // The library opens it later: what cannot be opened is to end the start.
    const opened = new RequestLog(makeLogFile(path), config, log);
    // And it throws where the process ends before, as at a start that something else ends.
    await once(opened.#file, 'ready');
    return opened;
  }

  /** Of answered requests one in so many is written, of refused ones each. */
  told(line: RequestLine): void {
    if (line.status < REFUSED_FROM) {
      this.#answered += 1;
      if (this.#answered < this.#every) return;
      this.#answered = 0;
    }
    const { requestId, method, keyPrefix, status, code, precision, dataset, client, query } = line;
    this.#log.info({
      id: requestId,
      method,
      operation: this.operations[line.operation] ?? '',
      key: keyPrefix,
      status,
      code: code === 0 ? null : code,
      precision: PRECISIONS[precision] ?? 'none',
      dataset,
      microseconds: line.microseconds,
      ...(this.addresses ? { client } : {}),
      ...(this.#queries ? { query: withoutSecrets(query) } : {}),
    });
  }

  /**
   * Closes the file and opens it again by its name, which another one may have by now. Where that
   * cannot be opened the one before stays: the library would close its descriptor the next time as
   * often as it failed, and so what has its number then.
   */
  reopen(): void {
    if (this.#path === null) return;
    try {
      makeLogFile(this.#path);
      this.#file.reopen(this.#path);
    } catch (error) {
      this.#fault(error);
    }
  }

  /** Writes what waits; where the file does not take it, that is dropped. */
  async close(): Promise<void> {
    this.#retriedUntil = performance.now() + CLOSE_MS_MAX;
    const isWritten = await new Promise<boolean>((resolve) => {
      this.#file.flush((fault) => resolve(!fault));
    });
    // The library tries again for ever, as the process ends, what a full disk did not take.
    if (!isWritten) this.#file.destroy();
    else if (this.#path !== null) this.#file.end();
  }
}
