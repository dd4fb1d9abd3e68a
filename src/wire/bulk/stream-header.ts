/** What a stream of messages is told beside its answers: its header, and changes of the dataset. */
import { jsonMembers } from '../json.js';
import type { WireObject } from '../tree.js';
import type { StreamLimitNames } from './envelope.js';

/** Names the program in headers; the second word is the version of this protocol. */
export const STREAM_ENGINE = 'situs stream/1';

export interface StreamHeader {
  readonly job: string;
  /** Release that answers at the moment. */
  readonly dataset: string;
  /** With it another connection goes on with the stream. */
  readonly resume: string;
  /** Messages that came, before this connection. */
  readonly received: number;
  readonly limits: StreamLimitNames;
}

function line(object: WireObject): Buffer {
  return Buffer.from(`{${jsonMembers(object)}}\n`, 'utf8');
}

/** The first line of every connection of a stream. */
export function streamHeaderLine({ job, dataset, resume, received, limits }: StreamHeader): Buffer {
  return line({
    header: { job, kind: 'message', dataset, engine: STREAM_ENGINE, resume, received, limits },
  });
}

/** Said before the first answer of another release than the one named last. */
export function datasetLine(dataset: string, seq: number): Buffer {
  return line({ dataset: { id: dataset, seq } });
}
