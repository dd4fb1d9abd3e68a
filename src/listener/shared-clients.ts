/**
 * Limits by client address over the listeners of one supervisor, which counts for all of them. What
 * is asked in one turn of the event loop goes in one message; the tables have their size there too.
 */
import { performance } from 'node:perf_hooks';
import { ClientGate, GuessGuard, type SharedClients } from '../http/client-limit.js';

/** Longest wait of a request: the supervisor is on this machine, and does little else. */
const ANSWER_MS_MAX = 1_000;
/** One that does not answer, or is of a version that cannot, is not asked for so long. */
const AWAY_MS = 60_000;

/** What an address is counted for, and the address. */
export type ClientQuestion = readonly [kind: 'catalogue' | 'guess', client: string];

/** The tables of all listeners, in the supervisor. */
export class ClientKeeper {
  readonly #gate: ClientGate;
  readonly #guard: GuessGuard;

  /** @param now milliseconds of a clock that never goes back */
  constructor(now: () => number = () => performance.now()) {
    this.#gate = new ClientGate(now);
    this.#guard = new GuessGuard(now);
  }

  /** Counts one request of each question, in order: what `SharedClients` says of it. */
  ask(questions: readonly ClientQuestion[]): readonly number[] {
    return questions.map(([kind, client]) =>
      kind === 'catalogue' ? this.#gate.take(client) : this.#guard.refusedMs(client),
    );
  }
}

type Told = (answer: number | null) => void;

interface Sent {
  readonly told: readonly Told[];
  readonly timer: NodeJS.Timeout;
}

/** A listener's way to these tables. */
export class SupervisorClients implements SharedClients {
  readonly count: number;
  readonly #send: (id: number, asked: readonly ClientQuestion[]) => void;
  readonly #sent = new Map<number, Sent>();
  #asked: ClientQuestion[] = [];
  #told: Told[] = [];
  #id = 0;
  #awayUntil = Number.NEGATIVE_INFINITY;

  /** @param send throws where there is no supervisor any more */
  constructor(count: number, send: (id: number, asked: readonly ClientQuestion[]) => void) {
    this.count = count;
    this.#send = send;
  }

  take(client: string): Promise<number | null> {
    return this.#ask(['catalogue', client]);
  }

  refusedMs(client: string): Promise<number | null> {
    return this.#ask(['guess', client]);
  }

  /** The supervisor has answered. */
  answered(id: number, answers: readonly number[]): void {
    this.#awayUntil = Number.NEGATIVE_INFINITY;
    this.#end(id, answers);
  }

  #ask(question: ClientQuestion): Promise<number | null> {
    if (performance.now() < this.#awayUntil) return Promise.resolve(null);
    return new Promise((resolve) => {
      if (this.#asked.length === 0) setImmediate(() => this.#flush());
      this.#asked.push(question);
      this.#told.push(resolve);
    });
  }

  #flush(): void {
    const [asked, told] = [this.#asked, this.#told];
    this.#asked = [];
    this.#told = [];
    this.#id += 1;
    const id = this.#id;
    this.#sent.set(id, { told, timer: setTimeout(() => this.#late(id), ANSWER_MS_MAX).unref() });
    try {
      this.#send(id, asked);
    } catch {
      this.#late(id);
    }
  }

  #late(id: number): void {
    this.#awayUntil = performance.now() + AWAY_MS;
    this.#end(id, []);
  }

  #end(id: number, answers: readonly number[]): void {
    const sent = this.#sent.get(id);
    if (sent === undefined) return;
    this.#sent.delete(id);
    clearTimeout(sent.timer);
    sent.told.forEach((told, at) => told(answers[at] ?? null));
  }
}
