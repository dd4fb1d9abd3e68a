/** A job over a file at one node, which may be killed and cut off meanwhile. */
import { createHash } from 'node:crypto';
import { askNode, type FleetAsk } from './client.js';

const ADDRESSES = [
  '120 Main St, Elmton, QA 91010',
  '121 Main St, Elmton, QA 91010',
  'nowhere at all',
  '',
  '91020',
];
const POLL_MS = 250;
/** How long a node may take to answer again. */
const SILENCE_MS = 120_000;

interface Job {
  readonly id: string;
  readonly state: string;
  readonly result: { readonly sha256: string } | null;
}

/** Sends a request to a node that may be away for a while. */
async function patiently(base: string, ask: FleetAsk): Promise<string> {
  const until = performance.now() + SILENCE_MS;
  for (;;) {
    const answer = await askNode(base, ask).catch(() => null);
    if (answer !== null && answer.status < 500) {
      if (answer.status < 300) return answer.text;
      throw new Error(`${ask.path} was answered ${answer.status}: ${answer.text}`);
    }
    if (performance.now() > until) throw new Error(`${ask.path} was not answered`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

export class FleetFile {
  readonly #body: string;
  readonly #base: string;

  constructor(base: string, rows: number, random: () => number) {
    this.#base = base;
    this.#body = `id,address\n${Array.from(
      { length: rows },
      (_, id) => `${id},"${ADDRESSES[Math.floor(random() * ADDRESSES.length)]}"\n`,
    ).join('')}`;
  }

  /** Makes the job, with an Idempotency-Key, so that a cut cannot cause a second job. */
  async begin(): Promise<string> {
    const text = await patiently(this.#base, {
      method: 'POST',
      path: '/bulk/jobs',
      body: this.#body,
      type: 'text/csv',
      idempotencyKey: 'the-job-of-the-fleet',
    });
    return (JSON.parse(text) as Job).id;
  }

  /** Waits for the job's end, and compares its result with a stream that another node answers. */
  async check(id: string, other: string): Promise<readonly string[]> {
    for (;;) {
      const job = JSON.parse(
        await patiently(this.#base, { method: 'GET', path: `/bulk/jobs/${id}` }),
      ) as Job;
      if (job.state === 'queued' || job.state === 'running') {
        await new Promise((resolve) => setTimeout(resolve, POLL_MS));
        continue;
      }
      if (job.state !== 'done') return [`the job is ${job.state}: ${JSON.stringify(job)}`];
      const result = await patiently(this.#base, {
        method: 'GET',
        path: `/bulk/jobs/${id}/result`,
        patienceMs: SILENCE_MS,
      });
      const stream = await patiently(other, {
        method: 'POST',
        path: '/bulk/lookup',
        patienceMs: SILENCE_MS,
        body: this.#body,
        type: 'text/csv',
      });
      const sha256 = createHash('sha256').update(result).digest('hex');
      return [
        ...(sha256 === job.result?.sha256 ? [] : ['the result has another SHA-256 than it says']),
        ...(result === stream ? [] : ['the result is not what another node answers']),
      ];
    }
  }
}
