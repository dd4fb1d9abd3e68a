/**
 * Sends lookups at a steady rate from a process of their own, whether or not earlier ones were
 * answered, and measures how long the answers took.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { fileURLToPath, pathToFileURL } from 'node:url';

const EACH_MS = 5;
const HEAD_END = '\r\n\r\n';
const LENGTH = /\r\ncontent-length: (\d+)/i;
/**
 * So many doors are looked up in turn that most answers come from a worker and not from a cache.
 */
const DOORS = 5_000;

/** Milliseconds from sending a lookup until the end of its answer. */
export interface Latencies {
  readonly count: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
  /** Answers with a status of 500 or more, and broken connections. */
  readonly broken: number;
}

interface Target {
  readonly port: number;
  readonly key: string;
}

function pathOf(count: number): string {
  return count % 2 === 0
    ? '/request/v60?postalcode=91010'
    : `/request/v60?address=${count % DOORS}%20Main%20St,%20Elmton,%20QA%2091010`;
}

/** A connection that has at most one lookup under way. */
class Prober {
  readonly #socket: Socket;
  readonly #done: (milliseconds: number, status: number) => void;
  #received = '';
  #sentAt = 0;
  isFree = true;
  isBroken = false;

  constructor(port: number, done: (milliseconds: number, status: number) => void) {
    this.#done = done;
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true }).setEncoding('latin1');
    this.#socket.on('data', (text) => this.#take(String(text)));
    this.#socket
      .on('error', () => undefined)
      .on('close', () => {
        this.isBroken = true;
        if (!this.isFree) done(performance.now() - this.#sentAt, 0);
      });
  }

  send(text: string): void {
    this.isFree = false;
    this.#received = '';
    this.#sentAt = performance.now();
    this.#socket.write(text);
  }

  #take(text: string): void {
    this.#received += text;
    const end = this.#received.indexOf(HEAD_END);
    if (end < 0) return;
    const length = Number(LENGTH.exec(this.#received.slice(0, end))?.[1] ?? 0);
    if (this.#received.length < end + HEAD_END.length + length) return;
    this.isFree = true;
    this.#done(performance.now() - this.#sentAt, Number(this.#received.slice(9, 12)));
  }
}

function latenciesOf(times: readonly number[], broken: number): Latencies {
  const sorted = Float64Array.from(times).sort();
  const at = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return { count: sorted.length, p50: at(0.5), p99: at(0.99), max: at(1), broken };
}

/** Sends lookups from this process until the parent process has ended. */
function probe({ port, key }: Target): void {
  let times: number[] = [];
  let broken = 0;
  let sent = 0;
  let probers: Prober[] = [];
  const done = (milliseconds: number, status: number): void => {
    times.push(milliseconds);
    if (status === 0 || status >= 500) broken += 1;
  };
  const from = performance.now();
  setInterval(() => {
    for (const due = (performance.now() - from) / EACH_MS; sent < due; sent += 1) {
      probers = probers.filter(({ isBroken }) => !isBroken);
      let free = probers.find(({ isFree }) => isFree);
      if (free === undefined) probers.push((free = new Prober(port, done)));
      free.send(`GET ${pathOf(sent)} HTTP/1.1\r\nHost: a\r\nX-API-KEY: ${key}\r\n\r\n`);
    }
  }, EACH_MS);
  process.on('message', () => {
    process.send?.(latenciesOf(times, broken));
    times = [];
    broken = 0;
  });
}

/** Controls the process that sends the lookups. */
export class SteadyLookups {
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess) {
    this.#child = child;
  }

  static begin(port: number, key: string): SteadyLookups {
    const child = fork(fileURLToPath(import.meta.url), { execArgv: [] });
    child.send({ port, key } satisfies Target);
    return new SteadyLookups(child);
  }

  /** The answers since the last call. */
  async take(): Promise<Latencies> {
    this.#child.send('take');
    const [latencies] = (await once(this.#child, 'message')) as [Latencies];
    return latencies;
  }

  async end(): Promise<void> {
    const ended = once(this.#child, 'exit');
    this.#child.kill();
    await ended;
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  process.once('message', (target: Target) => probe(target));
  process.once('disconnect', () => process.exit());
}
