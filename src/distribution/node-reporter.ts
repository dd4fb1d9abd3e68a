/** Tells the place what this node has, when it changes and often enough to be known as there. */
import { setTimeout as delay } from 'node:timers/promises';
import { type Log, messageOf } from '../log.js';
import type { NodeReport, NodeReports } from './place.js';

const EVERY_MS = 5_000;
const LEAVE_MS = 1_000;

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
    this.#under = reports.report({ ...report, at: new Date().toISOString() }).then(() => {
      [this.#last, this.#failed] = [text, false];
    }, (error: unknown) => {
      if (!this.#failed) this.#log.warn('node not reported', { message: messageOf(error) });
      this.#failed = true;
    }).finally(() => {
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
