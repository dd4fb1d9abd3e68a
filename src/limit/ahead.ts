/**
 * Places that this process holds ahead: for a key that is asked for often and is far from its rate,
 * some are had for the requests of the next fraction of a second, which then wait for nobody. They
 * count as admitted until it is told how many were used; the others are given back, or kept for the
 * next fraction. Nothing here asks: each question about a key, for whatever reason, tells and wants
 * what is due, and the answer says what is held from then on.
 */
import type { Rated } from '../http/rate-limit.js';
import { HELD_OF_RATE, type WindowAnswer, type WindowQuestion } from './port.js';

/** How long a key's requests are counted, for how many are wanted: near its rate, far from it. */
const NEAR_MS = 100;
const FAR_MS = 500;
/** How long places may be used after they were asked for; whoever counts waits much longer. */
export const USABLE_MS = FAR_MS + 150;
/** How often it is looked what is due. */
export const LOOK_MS = 50;
/** Requests of such a time from which on places are held ahead. */
const BUSY_MIN = 2;
/** Half as many again are wanted as were used, and more are asked for at a third of them. */
const SPARE = 1.5;
const LOW = 3;

/** No place in hand. */
export const NONE = -1;

interface Hold {
  /** The key with its rate when it was asked about last. */
  key: Rated;
  /** Places in hand, and used since that was told. */
  hand: number;
  used: number;
  /** Until when those in hand may be used, and as many as are few. */
  until: number;
  low: number;
  /** Places that were left beside those in hand. */
  left: number;
  /** Requests since `since`, and in the time before that. */
  recent: number;
  before: number;
  since: number;
  /** When it was asked about last; whether that has no answer yet. */
  askedAt: number;
  asked: boolean;
}

/** Far from the rate it is told later what was used, which counts a little longer for it. */
function spanOf({ left, hand, key: { rate } }: Hold): number {
  return (left + hand) * 2 >= rate ? FAR_MS : NEAR_MS;
}

/** Requests of the last time, or those since where these are more already. */
function paceOf(hold: Hold, now: number): number {
  const span = spanOf(hold);
  const passed = now - hold.since;
  if (passed >= span) {
    hold.before = passed >= 2 * span ? 0 : hold.recent;
    hold.recent = 0;
    hold.since = now;
  }
  return Math.max(hold.recent, hold.before);
}

export class HeldAhead {
  /** Requests that were admitted from what was held. */
  admitted = 0;
  readonly #holds = new Map<string, Hold>();
  readonly #low: (key: Rated) => void;

  /** @param low told of a key when it is time to ask for more */
  constructor(low: (key: Rated) => void) {
    this.#low = low;
  }

  /** Whether there is a key to look after. */
  get busy(): boolean {
    return this.#holds.size > 0;
  }

  /** Takes a place in hand: how many remain of the rate, or NONE. */
  take(key: Rated, now: number): number {
    const hold = this.#holds.get(key.id);
    if (hold === undefined || hold.hand === 0) return NONE;
    if (now >= hold.until || hold.key.rate !== key.rate) return NONE;
    hold.hand -= 1;
    hold.used += 1;
    hold.recent += 1;
    this.admitted += 1;
    if (hold.hand <= hold.low && !hold.asked) {
      hold.asked = true;
      this.#low(key);
    }
    return hold.left + hold.hand;
  }

  /** Places in hand of a key. */
  inHand(id: string): number {
    return this.#holds.get(id)?.hand ?? 0;
  }

  /** The question about a key, for so many requests that wait; `told` hears of what was used. */
  question(
    key: Rated,
    count: number,
    now: number,
    told: (key: Rated, used: number) => void,
  ): WindowQuestion {
    const hold = this.#of(key, now);
    hold.recent += count;
    const pace = paceOf(hold, now);
    const want =
      pace < BUSY_MIN ? 0 : Math.min(Math.ceil(pace * SPARE), Math.floor(key.rate / HELD_OF_RATE));
    const isUsable = now < hold.until && hold.key.rate === key.rate;
    // What is not kept may be another's as soon as this is sent.
    hold.hand = isUsable ? Math.min(hold.hand, want) : 0;
    const { used, hand: keep } = hold;
    hold.key = key;
    hold.used = 0;
    hold.asked = true;
    hold.askedAt = now;
    if (used > 0) told(key, used);
    if (used + keep + want === 0) return { id: key.id, rate: key.rate, count };
    return { id: key.id, rate: key.rate, count, ahead: { used, keep, want } };
  }

  /** What was answered to the last question. */
  answered({ id }: Rated, { left, held = 0 }: WindowAnswer): void {
    const hold = this.#holds.get(id);
    if (hold === undefined) return;
    hold.asked = false;
    hold.left = left;
    // Since it was asked some may have been used.
    hold.hand = Math.max(0, held - hold.used);
    hold.low = held > 1 ? Math.floor(held / LOW) : 0;
    hold.until = hold.askedAt + USABLE_MS;
  }

  /** The keys of which it is time to tell what was used, or to give back what was not. */
  due(now: number): readonly Rated[] {
    const keys: Rated[] = [];
    for (const [id, hold] of this.#holds) {
      if (hold.asked || now - hold.askedAt < spanOf(hold)) continue;
      if (hold.used > 0 || hold.hand > 0) keys.push(hold.key);
      else if (paceOf(hold, now) === 0) this.#holds.delete(id);
    }
    return keys;
  }

  /** Gives all of it up, without a word to whoever counts; `told` hears of what was used. */
  drop(told: (key: Rated, used: number) => void): void {
    for (const hold of this.#holds.values()) {
      if (hold.used > 0) told(hold.key, hold.used);
      hold.used = 0;
      hold.hand = 0;
      hold.asked = false;
    }
  }

  #of(key: Rated, now: number): Hold {
    let hold = this.#holds.get(key.id);
    if (hold === undefined) {
      hold = {
        key,
        hand: 0,
        used: 0,
        until: 0,
        low: 0,
        left: 0,
        recent: 0,
        before: 0,
        since: now,
        askedAt: now,
        asked: false,
      };
      this.#holds.set(key.id, hold);
    }
    return hold;
  }
}
