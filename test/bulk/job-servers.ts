/** Several servers on one store in this process, which have jobs and keep their files for each other. */
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { JobFiles } from '../../src/bulk/job/job-keeper.js';
import type { JobMember } from '../../src/bulk/job/ownership.js';
import { JobRegistry } from '../../src/bulk/job/registry.js';
import { JobSpace } from '../../src/bulk/job/space.js';
import { decodeChunk, encodeResult } from '../../src/bulk/row/chunk-payload.js';
import { type ChunkPool, ChunkSchedule } from '../../src/bulk/run/schedule.js';
import { SILENT } from '../../src/log.js';
import type { KeyRecord } from '../../src/store/format.js';
import { findJob, type JobRecord } from '../../src/store/jobs.js';
import { createKey } from '../../src/store/keys.js';
import { nodeKey } from '../../src/store/nodes.js';
import { Store } from '../../src/store/store.js';
import { UsageBook } from '../../src/store/usage.js';
import { KeyCache } from '../../src/store/watched.js';
import { eventually } from '../support/http-eventually.js';

const BYTES_MAX = 100_000_000;
const SPACE_LIMITS = {
  bytesMax: BYTES_MAX,
  accountBytesMax: BYTES_MAX,
  errorBytesMax: BYTES_MAX,
};
export const ROWS = 2_000;
const BODY = '{"address":"120 Main St, Elmton, QA 91010"}\n'.repeat(ROWS);

/** Answers each row with its own text. */
const ECHO: ChunkPool = {
  submit: (request) =>
    setImmediate(() => {
      const { chunk } = decodeChunk(Buffer.from(request.payload));
      const rows = chunk.ends.length;
      const tally = { rows, codes: { 100: rows }, core: rows, geo: 0, merchant: 0, refusals: [] };
      const parts = encodeResult(tally, Buffer.from(chunk.bytes));
      const body = Buffer.concat(parts.map((part) => Buffer.from(part)));
      const answer = { status: 200, code: 100, precision: 0, flags: 0, body };
      request.answered(answer, { id: 'r', dir: '' });
    }),
};
/** Never answers. */
export const STUCK: ChunkPool = { submit: () => undefined };

/** What the broker of a fleet keeps, in memory. */
class MemoryFiles implements JobFiles {
  readonly name = 'a fleet';
  readonly files = new Map<string, Buffer>();
  /** Resolves when a file that is asked for arrives. */
  arrival = (): Promise<void> => Promise.resolve();

  async put(job: string, which: string, path: string): Promise<boolean> {
    this.files.set(`${job}.${which}`, readFileSync(path));
    return true;
  }

  async bring(job: string, which: string, path: string): Promise<boolean> {
    const found = this.files.get(`${job}.${which}`);
    if (found === undefined) return false;
    await this.arrival();
    writeFileSync(path, found);
    return true;
  }

  async remove(job: string, which: readonly string[] = ['input', 'result']): Promise<void> {
    for (const each of which) this.files.delete(`${job}.${each}`);
  }
}

interface ServerOptions {
  /** Name of its folder of jobs; its id unless given. */
  readonly folder?: string;
  readonly pool?: ChunkPool;
  readonly fleet?: JobRegistry['options']['fleet'];
}

interface JobServer {
  readonly jobs: JobRegistry;
  readonly member: { -readonly [Name in keyof JobMember]: JobMember[Name] };
}

export class JobServers {
  readonly store: Store;
  readonly files = new MemoryFiles();
  readonly usage: UsageBook;
  readonly #key: KeyRecord;
  readonly #keys: KeyCache;
  readonly #dir: string;
  /** Milliseconds by the clock of the service. */
  now = Date.UTC(2026, 5, 1);

  private constructor(store: Store, key: KeyRecord, dir: string) {
    this.store = store;
    this.#key = key;
    this.#keys = new KeyCache(store);
    this.#dir = dir;
    this.usage = new UsageBook(store);
  }

  static async open(context: TestContext): Promise<JobServers> {
    const dir = mkdtempSync(join(tmpdir(), 'situs-job-servers-'));
    const store = await Store.open(dir);
    const { record } = await createKey(store, { plan: 'pro', text: 'a-key-for-jobs-of-servers' });
    const servers = new JobServers(store, record, dir);
    context.after(async () => {
      await servers.usage.close();
      await store.close();
      rmSync(dir, { recursive: true, force: true });
    });
    return servers;
  }

  get account(): string {
    return this.#key.account;
  }

  /** Adds a server, whose jobs are not started. */
  async add(
    id: string,
    { folder = id, pool = ECHO, fleet }: ServerOptions = {},
  ): Promise<JobServer> {
    const { store, usage } = this;
    const member = { id, others: [{}], fresh: true, watch: () => undefined };
    await store.write((transaction) =>
      transaction.put(nodeKey(id), {
        v: 1,
        id,
        beat: 1,
        machine: '',
        pid: 1,
        began: '',
        url: '',
        place: folder,
        leaving: false,
        startedAt: 0,
      }),
    );
    const jobs = new JobRegistry({
      store,
      usage,
      member,
      place: folder,
      files: this.files,
      log: SILENT,
      days: 3,
      now: () => this.now,
      age: () => this.now,
      filesDir: null,
      settings: { baseUrl: '', precisionMin: 'postal', refuseUnruled: false },
      space: new JobSpace(join(this.#dir, folder), SPACE_LIMITS),
      schedule: new ChunkSchedule(pool, 4),
      limits: { rowsMax: 1_000_000, bytesMax: BYTES_MAX, idleMs: 1_000 },
      kinds: [{ kind: 'lookup' }],
      findMerchant: () => null,
      keyOf: (key) => this.#keys.findId(key),
      releases: { borrow: async (release) => ({ id: release, dir: '' }), unpin: () => undefined },
      ...(fleet && { fleet }),
    });
    return { jobs, member };
  }

  /** Removes the sign of life of a server, as the others do when it has ended. */
  async end({ member }: JobServer): Promise<void> {
    await this.store.write((transaction) => transaction.remove(nodeKey(member.id)));
  }

  /** Creates a job as a request does, kept by the broker. */
  async make({ jobs }: JobServer): Promise<JobRecord> {
    const id = await this.tryMake(jobs);
    return this.get(id);
  }

  async tryMake(jobs: JobRegistry, id = jobs.reserve(this.account)): Promise<string> {
    const path = jobs.options.space.input(id);
    writeFileSync(path, BODY);
    const { size, mtimeMs } = statSync(path);
    const request = {
      kind: 'lookup',
      input: 'ndjson',
      output: 'ndjson',
      strict: false,
      map: [],
      delimiter: null,
      defaults: {},
      nowMs: this.now,
    } as const;
    await jobs.create(
      {
        id,
        key: this.#key,
        file: null,
        kept: await jobs.keeper.keepUpload(id, size),
        inputBytes: size,
        inputModifiedMs: mtimeMs,
        dataset: 'r',
        request,
      },
      () => undefined,
    );
    return id;
  }

  find(id: string): JobRecord | null {
    this.store.refresh();
    return findJob(this.store, this.account, id);
  }

  get(id: string): JobRecord {
    const record = this.find(id);
    if (record === null) throw new Error('the job is gone');
    return record;
  }

  /** Waits until the record of a job is as wanted. */
  async until(id: string, wanted: (record: JobRecord) => boolean): Promise<JobRecord> {
    await eventually(() => wanted(this.get(id)));
    return this.get(id);
  }

  ended(id: string): Promise<JobRecord> {
    return this.until(id, ({ endedAt }) => endedAt !== null);
  }
}
