/** Some parts of a run that go to the broker together, and what became of them so far. */
import type { RowsRequest } from '../../pool/types.js';
import { rowsOf } from '../row/chunk-payload.js';
import type { ChunkOrder, ChunkPart, ChunkResult } from './chunk-object.js';
import type { FilesBroker } from './files-broker.js';
import type { OwnNode } from './own-share.js';
import { sentChunk } from './sent-form.js';

export interface PoolChunk {
  readonly parts: readonly RowsRequest[];
  readonly order: ChunkOrder;
  /** It is in the queue, or was. */
  sent: boolean;
  /** It lies beside the queue, or may. */
  stored: boolean;
  /** Its result is said to be at the broker. */
  done: boolean;
  reading: boolean;
  result: ChunkResult | null;
  /** So often it was queued. */
  attempts: number;
}

/** What a run is answered over a fleet with. */
export interface FleetPoolOptions {
  readonly broker: FilesBroker;
  /** Name of the run. */
  readonly run: string;
  readonly release: string;
  /** Rows of a chunk. */
  readonly rows: number;
  /** How long nothing may come before it is asked whether any node has the release. */
  readonly waitMs: number;
  /** Told what keeps it waiting. */
  readonly tell: (text: string) => void;
  /** Absent where this process answers no rows. */
  readonly own?: OwnNode;
}

function bytesOf(payload: string | Uint8Array): Uint8Array {
  return typeof payload === 'string' ? Buffer.from(payload) : payload;
}

/** A chunk of these parts; `id` is in its name, with its first row. */
export function chunkOf(
  parts: readonly RowsRequest[],
  { run, release }: Pick<FleetPoolOptions, 'run' | 'release'>,
  id: string,
): PoolChunk {
  const places = parts.map(({ payload }) => rowsOf(bytesOf(payload)));
  const rows = places.reduce((sum, place) => sum + place.rows, 0);
  const line = places[0]?.line ?? 0;
  return {
    parts,
    order: { job: run, chunk: `${run}.${id}-${line}`, release, line, rows },
    sent: false,
    stored: false,
    done: false,
    reading: false,
    result: null,
    attempts: 0,
  };
}

/** Its parts as they travel. */
export function partsOf({ parts }: PoolChunk): readonly ChunkPart[] {
  return parts.map(({ grants, payload }) => ({ grants, payload: sentChunk(bytesOf(payload)) }));
}
