/** What a pool is at, for those who watch it. */
import type { Lane } from './lane.js';

export interface PoolState {
  /** Requests that no worker has taken yet, and their bytes. */
  readonly waiting: number;
  readonly waitingBytes: number;
  /** Requests in each lane, taken and not answered. */
  readonly lanes: readonly number[];
  /** Workers that have begun to serve and have not ended since. */
  readonly serving: number;
  /** Workers that ended and were replaced, so far. */
  readonly ended: number;
}

/** A pool whose workers nobody has needed yet. */
export const IDLE_POOL: PoolState = {
  waiting: 0, waitingBytes: 0, lanes: [], serving: 0, ended: 0,
};

export function poolState(
  lanes: readonly Lane[], waiting: number, waitingBytes: number, ended: number,
): PoolState {
  return {
    waiting, waitingBytes, ended, lanes: lanes.map(({ load }) => load),
    serving: lanes.filter((lane) => lane.running && !lane.loading).length,
  };
}
