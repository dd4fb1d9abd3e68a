/**
 * Places in rate windows that this process holds ahead. For a key that is used often and far from
 * its rate, some places are taken for the requests of the next fraction of a second, which then
 * need not wait for an answer. They count as admitted until the keeper of the windows is told how
 * many were used; the others are given back, or kept for the next fraction. This class sends no
 * questions: every question about a key, whatever its reason, reports what was used and states what
 * is wanted, and its answer says how many places are held from then on.
 */
import type { Rated } from '../http/rate-limit.js';
import { HELD_OF_RATE, type WindowAnswer, type WindowQuestion } from './port.js';

/**
 * For how long requests of a key are counted to find out how many places it needs: near its rate
 * and far from it.
 */
const NEAR_MS = 100;
const FAR_MS = 500;
/**
 * How long places may be used after they were requested; the keeper of the windows waits much
 * longer.
 */
export const USABLE_MS = FAR_MS + 150;
/** How often to check which keys have something to report. */
export const LOOK_MS = 50;
/** From this many requests in that time on, places are held ahead. */
const BUSY_MIN = 2;
/**
 * One and a half times as many places are wanted as were used, and more are requested when a third
 * is left.
 */
const SPARE = 1.5;
const LOW = 3;

/** Returned where no place is held. */
export const NONE = -1;

interface Hold {
  /** The key, with its rate when it was last asked about. */
  key: Rated;
  /** How many places are held, and how many were used since that was last reported. */
  hand: number;
  used: number;
  /** How many the question that is not answered yet gives back; `left` does not count them yet. */
  returned: number;
  /** Until when the held places may be used, and at how few of them more are requested. */
  until: number;
  low: number;
  /** How many places were left in the window beside the held ones. */
  left: number;
  /** How many requests there were since `since`, and in the period before. */
  recent: number;
  before: number;
  since: number;
  /** When the key was last asked about, and whether the answer is still missing. */
  askedAt: number;
  asked: boolean;
}

/** Far from its rate, a key's used places are reported later, and so count a little longer. */
function spanOf({ left, hand, key: { rate } }: Hold): number {
  return (left + hand) * 2 >= rate ? FAR_MS : NEAR_MS;
}

/**
 * How many requests a period has: those of the last one, or of the present one if that has more
 * already.
 */
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
  /** How many requests were admitted from held places. */
  admitted = 0;
  readonly #holds = new Map<string, Hold>();
  readonly #low: (key: Rated) => void;

  /** @param low called with a key when it is time to request more places */
  constructor(low: (key: Rated) => void) {
    this.#low = low;
  }

  /** Whether places are held for any key, or may be. */
  get busy(): boolean {
    return this.#holds.size > 0;
  }

  /** Takes a held place, and returns how many requests remain of the rate, or NONE. */
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
    return hold.left + hold.hand + hold.returned;
  }

  /** How many places are held for a key, or given back by a question that is not answered yet. */
  inHand(id: string): number {
    const hold = this.#holds.get(id);
    return hold === undefined ? 0 : hold.hand + hold.returned;
  }

  /**
   * Makes the question about a key for which `count` requests wait; `told` is called with how many
   * places were used.
   */
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
    const keep = isUsable ? Math.min(hold.hand, want) : 0;
    // Places that are not kept may go to others as soon as this is sent.
    hold.returned = hold.hand - keep;
    hold.hand = keep;
    const { used } = hold;
    hold.key = key;
    hold.used = 0;
    hold.asked = true;
    hold.askedAt = now;
    if (used > 0) told(key, used);
    if (used + keep + want === 0) return { id: key.id, rate: key.rate, count };
    return { id: key.id, rate: key.rate, count, ahead: { used, keep, want } };
  }

  /** Takes the answer to the last question. */
  answered({ id }: Rated, { left, held = 0 }: WindowAnswer): void {
    const hold = this.#holds.get(id);
    if (hold === undefined) return;
    hold.asked = false;
    hold.left = left;
    hold.returned = 0;
    // Some may have been used since the question.
    hold.hand = Math.max(0, held - hold.used);
    hold.low = held > 1 ? Math.floor(held / LOW) : 0;
    hold.until = hold.askedAt + USABLE_MS;
  }

  /** The keys for which used places must be reported, or unused ones given back. */
  due(now: number): readonly Rated[] {
    const keys: Rated[] = [];
    for (const [id, hold] of this.#holds) {
      if (hold.asked || now - hold.askedAt < spanOf(hold)) continue;
      if (hold.used > 0 || hold.hand > 0) keys.push(hold.key);
      else if (paceOf(hold, now) === 0) this.#holds.delete(id);
    }
    return keys;
  }

  /**
   * Drops all places without telling the keeper of the windows; `told` is called with how many were
   * used.
   */
  drop(told: (key: Rated, used: number) => void): void {
    for (const hold of this.#holds.values()) {
      if (hold.used > 0) told(hold.key, hold.used);
      hold.used = 0;
      hold.hand = 0;
      hold.returned = 0;
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
        returned: 0,
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
