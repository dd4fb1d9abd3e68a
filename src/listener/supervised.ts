/** A listener's end of the channel to its supervisor, and the port that all of them have. */
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { Config } from '../config.js';
import type { SharedClients } from '../http/client-limit.js';
import type { SharedWindows, WindowAnswer, WindowDebt, WindowQuestion } from '../limit/port.js';
import { messageOf } from '../log.js';
import { type ClientQuestion, SupervisorClients } from './shared-clients.js';

/** From a listener. */
export type ListenerMessage =
  /** It listens and has what it needs to answer. */
  | { readonly type: 'ready' }
  | { readonly type: 'ask'; readonly id: number; readonly questions: readonly WindowQuestion[] }
  | { readonly type: 'settle'; readonly debts: readonly WindowDebt[] }
  | { readonly type: 'clients'; readonly id: number; readonly asked: readonly ClientQuestion[] };

/** From the supervisor. */
export type SupervisorMessage =
  /** Another has taken its place. */
  | { readonly type: 'leave' }
  | { readonly type: 'answers'; readonly id: number; readonly answers: readonly WindowAnswer[] }
  | { readonly type: 'counted'; readonly id: number; readonly answers: readonly number[] };

/** A channel's end, which both processes have alike. */
export interface Channel {
  send?(message: object, sent: (error: Error | null) => void): boolean;
  on(event: 'message', told: (message: unknown) => void): unknown;
}

function typeOf(message: unknown): unknown {
  return typeof message === 'object' && message !== null && 'type' in message ? message.type : null;
}

const FROM_LISTENER: readonly unknown[] = ['ready', 'ask', 'settle', 'clients'];
const FROM_SUPERVISOR: readonly unknown[] = ['leave', 'answers', 'counted'];

/** Whether a message is a listener's; both ends are the same program. */
export function isFromListener(message: unknown): message is ListenerMessage {
  return FROM_LISTENER.includes(typeOf(message));
}

/** Whether a message is the supervisor's. */
function isFromSupervisor(message: unknown): message is SupervisorMessage {
  return FROM_SUPERVISOR.includes(typeOf(message));
}

/** What a listener is started with, behind the name of the program. */
export interface ListenerOrder {
  /** From 0 up. */
  readonly index: number;
  readonly count: number;
  /** The port that all of them listen on. */
  readonly port: number;
}

/**
 * The port for all listeners; 0 is a free one, which each of them has to be told.
 * @throws Error where another program has it: listeners would share it unnoticed.
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

/** The words that a listener is started with. */
export function orderWords({ index, count, port }: ListenerOrder): readonly string[] {
  return [OPTION, `${index}/${count}/${port}`];
}

/** What this process was started as; null for a server without a supervisor. */
export function listenerOrder(words: readonly string[]): ListenerOrder | null {
  const at = words.indexOf(OPTION);
  const found = at < 0 ? null : /^(\d+)\/(\d+)\/(\d+)$/.exec(words[at + 1] ?? '');
  if (found === null) return null;
  const [index = 0, count = 1, port = 0] = found.slice(1).map(Number);
  return { index, count, port };
}

/** Windows that the supervisor keeps. */
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

  /** Calls back when another has taken this listener's place. */
  onLeave(leave: () => void): void {
    this.#leave = leave;
  }

  ready(): void {
    this.#tell({ type: 'ready' });
  }

  #tell(message: ListenerMessage): void {
    if (this.#channel.send === undefined) throw new Error('the supervisor has gone');
    // A channel that has broken ends this process in another place.
    this.#channel.send(message, () => undefined);
  }
}
