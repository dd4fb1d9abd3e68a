/** Parts of a run that go to the broker together, and their state. */
import type { RowsRequest } from '../../pool/types.js';
import { rowsOf } from '../row/chunk-payload.js';
import type { ChunkOrder, ChunkPart, ChunkResult } from './chunk-object.js';
import type { FilesBroker } from './files-broker.js';
import type { OwnNode } from './own-share.js';
import { sentChunk } from './sent-form.js';

export interface PoolChunk {
  readonly parts: readonly RowsRequest[];
  readonly order: ChunkOrder;
  /** Whether the chunk was queued. */
  sent: boolean;
  /** Whether the chunk may also be stored as an object. */
  stored: boolean;
  /** Whether its result has come or is said to be stored at the broker. */
  done: boolean;
  reading: boolean;
  result: ChunkResult | null;
  /** How often the chunk was queued. */
  attempts: number;
}

/** What a run needs to be answered over a fleet. */
export interface FleetPoolOptions {
  readonly broker: FilesBroker;
  /** Name of the run. */
  readonly run: string;
  readonly release: string;
  /** How many rows a chunk has. */
  readonly rows: number;
  /** How long nothing may come before nodes are asked whether any has the release. */
  readonly waitMs: number;
  /** Called with what keeps the run waiting. */
  readonly tell: (text: string) => void;
  /** Absent where this process answers no rows. */
  readonly own?: OwnNode;
}

function bytesOf(payload: string | Uint8Array): Uint8Array {
  return typeof payload === 'string' ? Buffer.from(payload) : payload;
}

/** A chunk of parts. Its name has `id` and the number of its first row. */
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

/** The parts of a chunk in the form in which they are sent. */
export function partsOf({ parts }: PoolChunk): readonly ChunkPart[] {
  return parts.map(({ grants, payload }) => ({ grants, payload: sentChunk(bytesOf(payload)) }));
}
