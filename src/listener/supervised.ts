/** A listener's end of the channel to its supervisor, and the port that all listeners share. */
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { Config } from '../config.js';
import type { SharedClients } from '../http/client-limit.js';
import type { SharedWindows, WindowAnswer, WindowDebt, WindowQuestion } from '../limit/port.js';
import { messageOf } from '../log.js';
import { type ClientQuestion, SupervisorClients } from './shared-clients.js';

/** Messages from a listener to its supervisor. */
export type ListenerMessage =
  /** The listener accepts connections and can answer. */
  | { readonly type: 'ready' }
  | { readonly type: 'ask'; readonly id: number; readonly questions: readonly WindowQuestion[] }
  | { readonly type: 'settle'; readonly debts: readonly WindowDebt[] }
  | { readonly type: 'clients'; readonly id: number; readonly asked: readonly ClientQuestion[] };

/** Messages from the supervisor to a listener. */
export type SupervisorMessage =
  /** A new process has taken this listener's place. */
  | { readonly type: 'leave' }
  | { readonly type: 'answers'; readonly id: number; readonly answers: readonly WindowAnswer[] }
  | { readonly type: 'counted'; readonly id: number; readonly answers: readonly number[] };

/** One end of the channel between two processes; both ends look alike. */
export interface Channel {
  send?(message: object, sent: (error: Error | null) => void): boolean;
  on(event: 'message', told: (message: unknown) => void): unknown;
}

function typeOf(message: unknown): unknown {
  return typeof message === 'object' && message !== null && 'type' in message ? message.type : null;
}

const FROM_LISTENER: readonly unknown[] = ['ready', 'ask', 'settle', 'clients'];
const FROM_SUPERVISOR: readonly unknown[] = ['leave', 'answers', 'counted'];

/**
 * Whether a message is one of a listener's. Both ends are the same program, so its type is enough
 * to tell.
 */
export function isFromListener(message: unknown): message is ListenerMessage {
  return FROM_LISTENER.includes(typeOf(message));
}

/** Whether a message is one of the supervisor's. */
function isFromSupervisor(message: unknown): message is SupervisorMessage {
  return FROM_SUPERVISOR.includes(typeOf(message));
}

/** What a listener is told by its command line. */
export interface ListenerOrder {
  /** The listener's number, from 0 up. */
  readonly index: number;
  readonly count: number;
  /** The port that all listeners share. */
  readonly port: number;
}

/**
 * The port for all listeners. For 0 it is a free one, since all of them have to be told the same.
 * @throws Error where another program has the port: listeners would share it unnoticed.
 */
export async function freePort({ host, port }: Config): Promise<number> {
  const server = createServer();
  const listening = once(server, 'listening');
  server.listen({ host, port, exclusive: true });
  try {
    await listening;
  } catch (error) {
    throw new Error(
      `cannot listen on ${host}:${port}: the port is taken, or the address or port is not ` +
        `permitted; set HOST and PORT (${messageOf(error)})`,
    );
  }
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address !== null ? address.port : port;
}

const OPTION = '--listener';

/** The words for a listener's command line. */
export function orderWords({ index, count, port }: ListenerOrder): readonly string[] {
  return [OPTION, `${index}/${count}/${port}`];
}

/** What this process's command line says; null for a server without a supervisor. */
export function listenerOrder(words: readonly string[]): ListenerOrder | null {
  const at = words.indexOf(OPTION);
  const found = at < 0 ? null : /^(\d+)\/(\d+)\/(\d+)$/.exec(words[at + 1] ?? '');
  if (found === null) return null;
  const [index = 0, count = 1, port = 0] = found.slice(1).map(Number);
  return { index, count, port };
}

/** Rate windows that the supervisor keeps. */
class SupervisorWindows implements SharedWindows {
  readonly #send: (message: ListenerMessage) => void;
  readonly #waiting = new Map<number, (answers: readonly WindowAnswer[]) => void>();
  #asked = 0;

  constructor(send: (message: ListenerMessage) => void) {
    this.#send = send;
  }

  ask(questions: readonly WindowQuestion[]): Promise<readonly WindowAnswer[]> {
    return new Promise((resolve, reject) => {
      this.#asked += 1;
      this.#waiting.set(this.#asked, resolve);
      try {
        this.#send({ type: 'ask', id: this.#asked, questions });
      } catch (error) {
        this.#waiting.delete(this.#asked);
        reject(error);
      }
    });
  }

  answered(id: number, answers: readonly WindowAnswer[]): void {
    this.#waiting.get(id)?.(answers);
    this.#waiting.delete(id);
  }

  async settle(debts: readonly WindowDebt[]): Promise<void> {
    this.#send({ type: 'settle', debts });
  }

  async close(): Promise<void> {
    this.#waiting.clear();
  }
}

export class Supervised {
  readonly order: ListenerOrder;
  readonly #clients: SupervisorClients;
  readonly #channel: Channel;
  readonly #windows: SupervisorWindows;
  #leave: () => void = () => undefined;

  constructor(order: ListenerOrder, channel: Channel) {
    this.order = order;
    this.#channel = channel;
    this.#windows = new SupervisorWindows((message) => this.#tell(message));
    this.#clients = new SupervisorClients(order.count, (id, asked) =>
      this.#tell({ type: 'clients', id, asked }),
    );
    channel.on('message', (message) => {
      if (!isFromSupervisor(message)) return;
      if (message.type === 'leave') this.#leave();
      else if (message.type === 'counted') this.#clients.answered(message.id, message.answers);
      else this.#windows.answered(message.id, message.answers);
    });
  }

  get windows(): SharedWindows {
    return this.#windows;
  }

  /** Limits by client address. */
  get clients(): SharedClients {
    return this.#clients;
  }

  /** Sets what is called when a new process has taken this listener's place. */
  onLeave(leave: () => void): void {
    this.#leave = leave;
  }

  ready(): void {
    this.#tell({ type: 'ready' });
  }

  #tell(message: ListenerMessage): void {
    if (this.#channel.send === undefined) throw new Error('the supervisor has gone');
    // Errors are ignored here: a process whose channel breaks is ended by its `disconnect` event.
    this.#channel.send(message, () => undefined);
  }
}
