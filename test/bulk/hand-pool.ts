/** A pump whose workers answer when they are told. */
import assert from 'node:assert/strict';
import type { Answer } from '../../src/pool/types.js';
import { BulkPump } from '../../src/bulk/run/pump.js';
import type { AdmittedRows } from '../../src/bulk/run/pump-options.js';
import { ChunkSchedule } from '../../src/bulk/run/schedule.js';
import type { Trailer } from '../../src/bulk/row/envelope.js';
import type { PoolFailure, PoolRequest } from '../../src/pool/types.js';
import { RecordCutter } from '../../src/bulk/row/record-cutter.js';
import { decodeChunk, encodeResult } from '../../src/bulk/row/chunk-payload.js';

export const RELEASE = { id: 'r', dir: '' };

/** Workers that answer when told, in any order: each row with its text in capitals. */
export class HandPool {
  readonly held: PoolRequest[] = [];
  /** Answers lie in memory that threads share. */
  readonly #isShared: boolean;

  constructor(isShared = false) {
    this.#isShared = isShared;
  }

  submit(request: PoolRequest): void {
    this.held.push(request);
  }

  answer(index = 0): void {
    const [request] = this.held.splice(index, 1);
    assert.ok(request !== undefined);
    const { run, chunk } = decodeChunk(Buffer.from(request.payload));
    const rows = chunk.ends.length;
    const output = Buffer.from(Buffer.from(chunk.bytes).toString().toUpperCase());
    const code = run.refusal === undefined ? 100 : 107;
    const parts = encodeResult(
      {
        rows,
        codes: { [code]: rows },
        core: code === 100 ? rows : 0,
        geo: 0,
        merchant: 0,
        refusals: [],
      },
      output,
    );
    request.answered(
      slice({ status: 200, code: 100, precision: 0, flags: 0, body: parts }, this.#isShared),
      RELEASE,
    );
  }

  fail(failure: PoolFailure, index = 0): void {
    this.held.splice(index, 1)[0]?.failed(failure);
  }
}

function slice(
  { body, ...rest }: Answer,
  isShared = false,
): Omit<Answer, 'body'> & { body: Uint8Array } {
  const bytes = Buffer.concat(body.map((part) => Buffer.from(part as Uint8Array)));
  if (!isShared) return { ...rest, body: bytes };
  const shared = new Uint8Array(new SharedArrayBuffer(bytes.length));
  shared.set(bytes);
  return { ...rest, body: shared };
}

interface Rig {
  readonly pump: BulkPump;
  readonly pool: HandPool;
  readonly schedule: ChunkSchedule;
  readonly written: string[];
  readonly flow: string[];
  readonly ends: Trailer[];
  /** What `write` answers. */
  ready: boolean;
}

export const UNMETERED = (rows: number): AdmittedRows => ({
  rows,
  grants: 15,
  scarce: false,
  settle: () => undefined,
});

export function rig(
  more: {
    readonly admit?: (rows: number) => AdmittedRows;
    readonly places?: number;
    readonly schedule?: ChunkSchedule;
    readonly pool?: HandPool;
    readonly rowsMax?: number;
  } = {},
): Rig {
  const pool = more.pool ?? new HandPool();
  const schedule = more.schedule ?? new ChunkSchedule(pool, more.places ?? 8);
  const rigged: Omit<Rig, 'pump'> = {
    pool,
    schedule,
    written: [],
    flow: [],
    ends: [],
    ready: true,
  };
  const pump = new BulkPump({
    run: {
      name: 'j',
      kind: 'lookup',
      release: RELEASE,
      nowMs: 0,
      output: 'ndjson',
      table: null,
      defaults: {},
    },
    cutter: new RecordCutter({ form: { kind: 'ndjson' } }),
    schedule,
    sink: {
      write: (output) => {
        rigged.written.push(Buffer.from(output).toString());
        return rigged.ready;
      },
    },
    body: { pause: () => rigged.flow.push('pause'), resume: () => rigged.flow.push('resume') },
    admit: more.admit ?? UNMETERED,
    rowsMax: more.rowsMax ?? 1_000_000,
    strict: false,
    header: Buffer.from('header\n'),
    done: (end) => rigged.ends.push(end),
  });
  return Object.assign(rigged, { pump });
}

export function rows(count: number, text = 'r'): Buffer {
  return Buffer.from(`${text}\n`.repeat(count));
}
