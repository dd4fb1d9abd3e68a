/**
 * Limits by client address that hold for all listeners of one supervisor, which counts for them. A
 * listener asks about all requests of one turn of the event loop in one message.
 */
import { performance } from 'node:perf_hooks';
import { ClientGate, GuessGuard, type SharedClients } from '../http/client-limit.js';

/** Longest wait for the supervisor's answer. It runs on this machine and does little else. */
const ANSWER_MS_MAX = 1_000;
/** A supervisor that did not answer, or whose version cannot, is not asked again for this long. */
const AWAY_MS = 60_000;

/** Which limit a request counts towards, and the client's address. */
export type ClientQuestion = readonly [kind: 'catalogue' | 'guess', client: string];

/** The supervisor's side: the counts of all listeners' clients. */
export class ClientKeeper {
  readonly #gate: ClientGate;
  readonly #guard: GuessGuard;

  /** @param now milliseconds of a clock that never goes back */
  constructor(now: () => number = () => performance.now()) {
    this.#gate = new ClientGate(now);
    this.#guard = new GuessGuard(now);
  }

  /**
   * Counts one request for each question, in order, and returns what the methods of `SharedClients`
   * give.
   */
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

/** A listener's side: asks the supervisor. */
export class SupervisorClients implements SharedClients {
  readonly count: number;
  readonly #send: (id: number, asked: readonly ClientQuestion[]) => void;
  readonly #sent = new Map<number, Sent>();
  #asked: ClientQuestion[] = [];
  #told: Told[] = [];
  #id = 0;
  #awayUntil = Number.NEGATIVE_INFINITY;

  /** @param send sends the questions; it throws when there is no supervisor any more */
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

  /** Called with the supervisor's answer. */
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
