/** Rates of keys over the listeners of one supervisor, which keeps their windows. */
import type { SharedWindows } from './port.js';
import { SharedRates } from './shared-rates.js';

/** Longest wait of a start for the first answer; it goes on without. */
const START_MS_MAX = 1_000;

/** Longest wait of a request: the supervisor is on this machine, and does little else. */
const ANSWER_MS_MAX = 1_000;

/** What is known of the supervisor here. */
export interface WindowsOfAll {
  readonly windows: SharedWindows;
  readonly order: { readonly count: number };
}

/**
 * The windows that a supervisor keeps for its listeners; null where there is none. While it does
 * not answer, a listener admits its part of each limit.
 */
export async function listenerRates(supervised: WindowsOfAll | null): Promise<SharedRates | null> {
  if (supervised === null) return null;
  const { windows, order: { count } } = supervised;
  const sharePercent = Math.max(1, Math.floor(100 / count));
  const rates = new SharedRates({ windows, sharePercent, answerMs: ANSWER_MS_MAX });
  await rates.started(START_MS_MAX);
  return rates;
}
