/** A client of bulk jobs over a service with keys of every plan. */
import { sendBulk, type BulkAnswer, type BulkAsk, type KeyName } from './bulk-client.js';
import { eventually } from './http-eventually.js';

/** Longest time of a small job on a machine that has much else to do. */
export const WAIT_MS = 120_000;

export interface JobBody {
  readonly id: string;
  readonly state: string;
  readonly dataset: string;
  readonly progress: number;
  readonly rows: { readonly total: number | null; readonly done: number };
  readonly codes: Readonly<Record<string, number>>;
  readonly complete: boolean;
  readonly stopped: { readonly code: number; readonly line: number } | null;
  readonly reason: string | null;
  readonly result: {
    readonly href: string; readonly bytes: number; readonly sha256: string;
  } | null;
}

export class JobClient {
  readonly port: number;
  readonly key: KeyName;

  constructor(port: number, key: KeyName = 'bulk') {
    this.port = port;
    this.key = key;
  }

  ask(path: string, more: Partial<BulkAsk> = {}, body: string | Buffer = ''): Promise<BulkAnswer> {
    return sendBulk({ port: this.port, key: this.key, path, method: 'GET', ...more }, body);
  }

  /** Sends a body; the answer whatever it is. */
  post(
    body: string | Buffer, type = 'text/csv', query = '',
    headers: Readonly<Record<string, string>> = {},
  ): Promise<BulkAnswer> {
    return this.ask(`/bulk/jobs${query}`, { method: 'POST', type, headers }, body);
  }

  /** Makes a job and returns its body. */
  async create(body: string | Buffer, type = 'text/csv', query = ''): Promise<JobBody> {
    const answer = await this.post(body, type, query);
    if (answer.status !== 202) throw new Error(answer.body.toString());
    return JSON.parse(answer.body.toString()) as JobBody;
  }

  async job(id: string): Promise<JobBody> {
    const answer = await this.ask(`/bulk/jobs/${id}`);
    if (answer.status !== 200) throw new Error(answer.body.toString());
    return JSON.parse(answer.body.toString()) as JobBody;
  }

  /** Waits until a job is in one of some states. */
  async until(id: string, ...states: readonly string[]): Promise<JobBody> {
    let job = await this.job(id);
    await eventually(async () => {
      job = await this.job(id);
      return states.includes(job.state);
    }, WAIT_MS);
    return job;
  }

  result(id: string, headers: Readonly<Record<string, string>> = {}): Promise<BulkAnswer> {
    return this.ask(`/bulk/jobs/${id}/result`, { headers });
  }
}
