/**
 * What the uploads of a server share: limits, places, and the trailers of uploads that have ended.
 */
import { randomBytes } from 'node:crypto';
import type { Problem } from '../../base/problem.js';
import type { Request } from '../../http/reply.js';
import type { Trailer } from '../row/envelope.js';
import type { BulkKind } from '../row/chunk-payload.js';
import { CHUNK_BYTES_MAX, COLUMNS_MAX, HEADER_BYTES_MAX, rowBytesMax } from '../row/record-form.js';
import { tooLarge } from './request.js';
import type { ChunkSchedule } from './schedule.js';
import type { SpoolSpace } from './spool.js';

/** Most uploads at a time of one account, and of all accounts. */
export const UPLOADS_PER_ACCOUNT_MAX = 8;
export const UPLOADS_MAX = 64;

/** How many trailers are kept; the oldest are dropped first. */
const TRAILERS_MAX = 10_000;
/** How long a trailer is kept. */
export const TRAILER_MS = 3_600_000;

const JOB_BYTES = 12;

/** Limits that the operator sets. */
export interface BulkLimits {
  /** Most rows of a run. */
  readonly rowsMax: number;
  /** Most bytes of a body after unpacking. */
  readonly bytesMax: number;
  /** How long a client may neither send nor take anything. */
  readonly idleMs: number;
}

/** The limits as headers and refusals show them. */
export function limitsOf(
  { rowsMax, bytesMax, idleMs }: BulkLimits,
  kind: BulkKind = 'lookup',
): Record<string, number> {
  return {
    rows: rowsMax,
    bodyBytes: bytesMax,
    rowBytes: rowBytesMax(kind),
    columns: COLUMNS_MAX,
    headerBytes: HEADER_BYTES_MAX,
    chunkBytes: CHUNK_BYTES_MAX,
    idleSeconds: idleMs / 1000,
  };
}

/** The sentence for a client that has neither sent nor taken anything for too long. */
export function silence(idleMs: number): string {
  return `Nothing was sent for ${idleMs / 1000} seconds.`;
}

/** The refusal of a body whose Content-Length is over the limit; null where it is not. */
export function lengthRefusal(request: Request, { bytesMax }: BulkLimits): Problem | null {
  return Number(request.header('content-length') || 0) > bytesMax
    ? tooLarge('A body', bytesMax)
    : null;
}

/** A new name for a run over rows. */
export function newRunName(): string {
  return `bulk_${randomBytes(JOB_BYTES).toString('hex')}`;
}

interface KeptTrailer {
  readonly account: string;
  readonly at: number;
  readonly content: Trailer;
}

interface OpenUpload {
  readonly account: string;
  /** Ends the upload after what is under way. */
  stop(message: string): void;
}

interface UploadsOptions {
  readonly schedule: ChunkSchedule;
  readonly space: SpoolSpace;
  readonly limits: BulkLimits;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

export class Uploads {
  readonly schedule: ChunkSchedule;
  readonly space: SpoolSpace;
  readonly limits: BulkLimits;
  readonly now: () => number;
  readonly #open = new Map<string, OpenUpload>();
  readonly #trailers = new Map<string, KeptTrailer>();

  constructor(options: UploadsOptions) {
    const { schedule, space, limits, now } = options;
    this.schedule = schedule;
    this.space = space;
    this.limits = limits;
    this.now = now;
  }

  /** How many uploads are open. */
  get open(): number {
    return this.#open.size;
  }

  /** The limit that leaves an account no further upload; null when there is room. */
  full(account: string): { readonly limit: number; readonly own: boolean } | null {
    let own = 0;
    for (const upload of this.#open.values()) if (upload.account === account) own += 1;
    if (own >= UPLOADS_PER_ACCOUNT_MAX) return { limit: UPLOADS_PER_ACCOUNT_MAX, own: true };
    return this.#open.size < UPLOADS_MAX ? null : { limit: UPLOADS_MAX, own: false };
  }

  enter(name: string, upload: OpenUpload): void {
    this.#open.set(name, upload);
  }

  leave(name: string): void {
    this.#open.delete(name);
  }

  /** Keeps the trailer of an upload for its account. */
  keep(name: string, account: string, content: Trailer): void {
    const at = performance.now();
    for (const [name, kept] of this.#trailers) {
      if (this.#trailers.size < TRAILERS_MAX && at - kept.at < TRAILER_MS) break;
      this.#trailers.delete(name);
    }
    this.#trailers.set(name, { account, at, content });
  }

  /**
   * The trailer of an upload: 'open' while the upload has not ended, null when the account has no
   * such upload.
   */
  trailer(name: string, account: string): Trailer | 'open' | null {
    if (this.#open.get(name)?.account === account) return 'open';
    const kept = this.#trailers.get(name);
    if (kept === undefined || kept.account !== account) return null;
    return performance.now() - kept.at < TRAILER_MS ? kept.content : null;
  }

  /** Ends every upload, each with its trailer. */
  stop(): void {
    for (const upload of [...this.#open.values()]) upload.stop('The service is stopping.');
  }
}
