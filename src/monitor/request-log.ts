/**
 * The log of requests: one JSON line for each, written after the answer. Unless the settings say
 * so, no line contains a street address, a client's address or more of a key than `situs key list`
 * shows.
 */
import { once } from 'node:events';
import { pino, type Logger } from 'pino';
import type { RequestLogConfig } from '../config.js';
import { PRECISIONS } from '../engine/situs.js';
import { withoutSecrets } from '../http/api-key.js';
import type { RequestLine, RequestSink } from '../http/front.js';
import { messageOf, type Log } from '../log.js';
import { LogFile, makeLogFile, STANDARD_OUTPUT } from './log-file.js';

/** A fault of the log may affect every line; it is reported once in this time. */
const TOLD_MS = 60_000;
const REFUSED_FROM = 400;

/** A function that calls `tell` at most once every TOLD_MS. */
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
    // The service goes on answering when its log cannot be written.
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
   * Opens the log; null where none is configured.
   * @throws Error that names the setting when the file cannot be written.
   */
  static async open(config: RequestLogConfig, log: Log): Promise<RequestLog | null> {
    const { path } = config;
    if (path === null) return null;
    const opened = new RequestLog(path, config, log);
    // The library throws if the process ends before the file is open, as a failed start does.
    await once(opened.#file.lines, 'ready');
    return opened;
  }

  /** Writes every refused request, but only one in so many answered ones. */
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
      // Lines have no member that is undefined.
      client: this.addresses ? client : undefined,
      query: this.#queries ? withoutSecrets(query) : undefined,
    });
  }

  /**
   * Closes the file and opens its name again, which may be another file by now. If that fails, the
   * former file stays in use: the library's own reopening would later close its descriptor once for
   * each failure, although the number may belong to another file by then.
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

  /** Writes the lines that wait; drops them where the file does not take them. */
  close(): Promise<void> {
    return this.#file.close();
  }
}
