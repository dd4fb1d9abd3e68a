/**
 * The place that a fleet's releases are pushed to and pulled from. It holds one document, which is
 * replaced only by naming the version that is replaced, and pieces of bytes named by their SHA-256.
 * Only an adapter knows what is behind it (NATS, S3, HTTP).
 */
import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { type Log, messageOf } from '../log.js';

/** The place failed, or gave an answer that cannot be used. The message names the place. */
export class PlaceError extends Error {
  override readonly name = 'PlaceError';
}

/** The document and the version that has to be named to replace it. */
export interface Versioned {
  readonly text: string;
  readonly version: string;
}

/** What a node reports about itself. */
export interface NodeReport {
  readonly node: string;
  /** ISO 8601, by the node's clock. */
  readonly at: string;
  /** The program's version. */
  readonly program: string;
  /** The active release. */
  readonly dataset: string | null;
  /** The releases that the node could switch to at once. */
  readonly prepared: readonly string[];
  readonly problem: Unprepared | null;
}

/** Why a release is not prepared here. */
export interface Unprepared {
  readonly dataset: string;
  readonly reason: string;
}

/** The state of this node in its fleet. */
export interface FleetStatus {
  /** Whether the place answered when it was asked last. */
  readonly reached: boolean;
  /** The release that is active for the fleet, as far as it is known here; null for none. */
  readonly active: string | null;
  /** Whether this node answers with the fleet's active release; true where that is not known. */
  readonly follows: boolean;
  readonly prepared: readonly string[];
  readonly problem: Unprepared | null;
}

/** Where nodes report which releases they have. A report that is not renewed expires. */
export interface NodeReports {
  report(report: NodeReport): Promise<void>;
  leave(node: string): Promise<void>;
  all(): Promise<readonly NodeReport[]>;
}

/** Every operation throws a `PlaceError` where the place fails or refuses. */
export interface Place {
  /** Its address without secrets. */
  readonly name: string;
  /** The document; "same" where its version is still `known`, null where there is none. */
  read(known: string | null): Promise<Versioned | 'same' | null>;
  /**
   * Replaces the document of that version, or creates it where the version is null. False where the
   * document has another version by now.
   */
  replace(text: string, version: string | null): Promise<boolean>;
  has(sum: string): Promise<boolean>;
  put(sum: string, bytes: Uint8Array): Promise<void>;
  get(sum: string): Promise<Uint8Array>;
  remove(sum: string): Promise<void>;
  /**
   * Calls `changed` whenever the document may have changed. A place that cannot notify never calls
   * it.
   */
  watch(changed: () => void): Promise<void>;
  /** Null where the place cannot take reports. */
  readonly nodes: NodeReports | null;
  close(): Promise<void>;
}

/** SHA-256 in hexadecimal. */
export function sumOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Gets a piece and checks its SHA-256. @throws PlaceError where the bytes are others. */
export async function checkedPiece(place: Place, sum: string): Promise<Uint8Array> {
  const bytes = await place.get(sum);
  if (sumOf(bytes) === sum) return bytes;
  throw new PlaceError(
    `${place.name} gave ${bytes.length} bytes for the piece ${sum.slice(
      0,
      12,
    )}… that are not those that were pushed`,
  );
}

const EVERY_MS = 5_000;
const LEAVE_MS = 1_000;

/** Reports to the place what a node has: when that changes, and often enough not to expire. */
export class NodeReporter {
  readonly #reports: NodeReports | null;
  readonly #log: Log;
  #last = '';
  #at = Number.NEGATIVE_INFINITY;
  #under: Promise<void> | null = null;
  #failed = false;

  /** `reports` is null where the place takes none. */
  constructor(reports: NodeReports | null, log: Log) {
    this.#reports = reports;
    this.#log = log;
  }

  /** Sends a report where it differs from the last one, or that is old. */
  told(report: Omit<NodeReport, 'at'>): void {
    const reports = this.#reports;
    if (reports === null || this.#under !== null) return;
    const text = JSON.stringify(report);
    if (text === this.#last && performance.now() - this.#at < EVERY_MS) return;
    this.#at = performance.now();
    this.#under = reports
      .report({ ...report, at: new Date().toISOString() })
      .then(
        () => {
          [this.#last, this.#failed] = [text, false];
        },
        (error: unknown) => {
          if (!this.#failed) this.#log.warn('node not reported', { message: messageOf(error) });
          this.#failed = true;
        },
      )
      .finally(() => {
        this.#under = null;
      });
  }

  /** Removes the node's report, or leaves it to expire where the place does not answer soon. */
  async leave(node: string): Promise<void> {
    const reports = this.#reports;
    if (reports === null) return;
    const left = (async () => {
      await this.#under;
      await reports.leave(node);
    })().catch(() => undefined);
    await Promise.race([left, delay(LEAVE_MS, undefined, { ref: false })]);
  }
}
