/** What a supervisor and its listeners tell one another, over the channel between them. */
import type { WindowAnswer, WindowDebt, WindowQuestion } from '../limit/port.js';

/** From a listener. */
export type ListenerMessage =
  /** It listens and has what it needs to answer. */
  | { readonly type: 'ready' }
  | { readonly type: 'ask'; readonly id: number; readonly questions: readonly WindowQuestion[] }
  | { readonly type: 'settle'; readonly debts: readonly WindowDebt[] };

/** From the supervisor. */
export type SupervisorMessage =
  /** Another has taken its place. */
  | { readonly type: 'leave' }
  | { readonly type: 'answers'; readonly id: number; readonly answers: readonly WindowAnswer[] };

/** A channel's end, which both processes have alike. */
export interface Channel {
  send?(message: object, sent: (error: Error | null) => void): boolean;
  on(event: 'message', told: (message: unknown) => void): unknown;
}

function typeOf(message: unknown): unknown {
  return typeof message === 'object' && message !== null && 'type' in message ? message.type : null;
}

const FROM_LISTENER: readonly unknown[] = ['ready', 'ask', 'settle'];
const FROM_SUPERVISOR: readonly unknown[] = ['leave', 'answers'];

/** Whether a message is a listener's; both ends are the same program. */
export function isFromListener(message: unknown): message is ListenerMessage {
  return FROM_LISTENER.includes(typeOf(message));
}

/** Whether a message is the supervisor's. */
export function isFromSupervisor(message: unknown): message is SupervisorMessage {
  return FROM_SUPERVISOR.includes(typeOf(message));
}
