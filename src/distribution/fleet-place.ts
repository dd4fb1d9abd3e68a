/**
 * The place that a fleet's releases are pushed to and pulled from. It holds one document, which is
 * only ever replaced by who knows its version, and pieces of bytes by their SHA-256. What is behind
 * it (NATS, S3, HTTP) is known to its adapter alone.
 */
import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { type Log, messageOf } from '../log.js';

/** Something that the place said or did not say, as a sentence that names the place. */
export class PlaceError extends Error {
  override readonly name = 'PlaceError';
}

/** The document with what has to be named to replace it. */
export interface Versioned {
  readonly text: string;
  readonly version: string;
}

/** What a node says of itself. */
export interface NodeReport {
  readonly node: string;
  /** ISO 8601, by the node's clock. */
  readonly at: string;
  /** The program's version. */
  readonly program: string;
  /** The release that answers. */
  readonly dataset: string | null;
  /** Those that it can answer with at once. */
  readonly prepared: readonly string[];
  readonly problem: Unprepared | null;
}

/** Why a release is not prepared here. */
export interface Unprepared {
  readonly dataset: string;
  readonly reason: string;
}

/** What is told of a node in a fleet. */
export interface FleetStatus {
  /** Whether the place answered when it was asked last. */
  readonly reached: boolean;
  /** The release that is active for the fleet, as far as it is known here; null for none. */
  readonly active: string | null;
  /** Whether this node answers with it; true where none is known. */
  readonly follows: boolean;
  readonly prepared: readonly string[];
  readonly problem: Unprepared | null;
}

/** Where nodes say what they have; a report that is not renewed goes by itself. */
export interface NodeReports {
  report(report: NodeReport): Promise<void>;
  leave(node: string): Promise<void>;
  all(): Promise<readonly NodeReport[]>;
}

/** Every operation throws a `PlaceError` where the place does not do what it is asked. */
export interface Place {
  /** Its address without secrets. */
  readonly name: string;
  /** The document; "same" where it is still that version, null where there is none. */
  read(known: string | null): Promise<Versioned | 'same' | null>;
  /**
   * Replaces the document of that version, or makes it where none is named; false where it is
   * another one by now.
   */
  replace(text: string, version: string | null): Promise<boolean>;
  has(sum: string): Promise<boolean>;
  put(sum: string, bytes: Uint8Array): Promise<void>;
  get(sum: string): Promise<Uint8Array>;
  remove(sum: string): Promise<void>;
  /** Calls whenever the document may have changed, where the place tells; else never. */
  watch(changed: () => void): Promise<void>;
  /** Null where nodes cannot be known. */
  readonly nodes: NodeReports | null;
  close(): Promise<void>;
}

/** SHA-256 in hexadecimal. */
export function sumOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** A piece whose bytes are those of its name. @throws PlaceError where they are not. */
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

/** Tells the place what a node has, when it changes and often enough to be known as there. */
export class NodeReporter {
  readonly #reports: NodeReports | null;
  readonly #log: Log;
  #last = '';
  #at = Number.NEGATIVE_INFINITY;
  #under: Promise<void> | null = null;
  #failed = false;

  /** Null where the place takes no reports. */
  constructor(reports: NodeReports | null, log: Log) {
    this.#reports = reports;
    this.#log = log;
  }

  /** Sends a report where it says something new, or the last one is old. */
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

  /** Takes the report back, or lets it end by itself where the place does not answer soon. */
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
