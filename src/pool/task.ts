/** What travels between the front end and the workers. */
import type { LogLevel, MinimumPrecision } from '../config.js';
import type { AnswerSlice } from '../engine/frame.js';

/** A release that answers, as the workers are told of it. */
export interface PinnedRelease {
  readonly id: string;
  readonly dir: string;
}

/** Stands for a release where none is active and none is needed. */
export const NO_RELEASE: PinnedRelease = { id: '', dir: '' };

export type PoolFailure = 'overloaded' | 'internal';

/** One request in the pool. Exactly one of the two callbacks is called, once. */
export interface PoolRequest {
  readonly op: number;
  readonly version: number;
  readonly grants: number;
  readonly payload: string | Uint8Array;
  /** The body is a view of memory that is used again: copy what is kept after the call. */
  answered(slice: AnswerSlice, release: PinnedRelease): void;
  failed(failure: PoolFailure): void;
}

/** What a worker is asked at once. */
export interface EngineTask {
  readonly dataset: PinnedRelease;
  readonly now: number;
  readonly frame: Uint8Array;
}

/** What every worker is told once, at its start. */
export interface EngineSettings {
  readonly baseUrl: string;
  readonly precisionMin: MinimumPrecision;
  readonly logLevel: LogLevel;
  /** Bytes of rendered parts kept, and as many of postal answers; as the wire has it if absent. */
  readonly cacheBytesMax?: number;
}
