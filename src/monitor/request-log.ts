/**
 * The log of requests: one JSON line each, written behind the answers. Without being asked for, no
 * line holds a street address, a client's address or more of a key than `situs key list` shows.
 */
import { once } from 'node:events';
import { pino, type Logger } from 'pino';
import type { RequestLogConfig } from '../config.js';
import { PRECISIONS } from '../engine/situs.js';
import { withoutSecrets } from '../http/api-key.js';
import type { RequestLine, RequestSink } from '../http/front.js';
import { messageOf, type Log } from '../log.js';
import { LogFile, makeLogFile, STANDARD_OUTPUT } from './log-file.js';

/** While it takes none every line may meet the fault, which is told once in this time. */
const TOLD_MS = 60_000;
const REFUSED_FROM = 400;

/** Tells of something once in a while, however often it comes. */
function sparing<T extends readonly unknown[]>(tell: (...of: T) => void): (...of: T) => void {
  let told = -Infinity;
  return (...of) => {
    const now = performance.now();
    if (now - told < TOLD_MS) return;
    told = now;
    tell(...of);
  };
}

function linesTo(file: LogFile): Logger {
  return pino(
    {
      base: null,
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (level) => ({ level }) },
    },
    file.lines,
  );
}

export class RequestLog implements RequestSink {
  readonly addresses: boolean;
  readonly traces = false;
  /** Names of operations by their index. */
  operations: readonly string[] = [];
  readonly #every: number;
  readonly #queries: boolean;
  readonly #failed: (error: unknown) => void;
  readonly #faults: ConstructorParameters<typeof LogFile>[1];
  /** Null for standard output. */
  readonly #path: string | null;
  #file: LogFile;
  #log: Logger;
  #answered = 0;

  private constructor(path: string, config: RequestLogConfig, log: Log) {
    const { every, clients, queries } = config;
    this.addresses = clients;
    this.#every = every;
    this.#queries = queries;
    const made = makeLogFile(path);
    this.#path = made === STANDARD_OUTPUT ? null : path;
    // A log that cannot be written is no reason to stop answering.
    const failed = (error: unknown): void =>
      log.error('request log not written', { message: messageOf(error) });
    this.#failed = failed;
    this.#faults = {
      failed: sparing(failed),
      dropped: sparing(() => log.error('requests not logged')),
    };
    this.#file = new LogFile(made, this.#faults);
    this.#log = linesTo(this.#file);
  }

  /**
   * Opens the log; null where none is asked for.
   * @throws Error that names the setting when the file cannot be written.
   */
  static async open(config: RequestLogConfig, log: Log): Promise<RequestLog | null> {
    const { path } = config;
    if (path === null) return null;
    const opened = new RequestLog(path, config, log);
    // The library throws where the process ends before, as at a start that something else ends.
    await once(opened.#file.lines, 'ready');
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
      const made = makeLogFile(this.#path);
      if (this.#file.goesOn(made)) return;
      const before = this.#file;
      this.#file = new LogFile(made, this.#faults);
      this.#log = linesTo(this.#file);
      void before.close();
    } catch (error) {
      this.#failed(error);
    }
  }

  /** Writes what waits; where the file does not take it, that is dropped. */
  close(): Promise<void> {
    return this.#file.close();
  }
}
