/** A worker for a pool that sends every frame as a task of Piscina's, without lanes. */
import { openDataset } from '../../src/dataset/open.js';
import { Engine } from '../../src/engine/engine.js';
import { AnswerWriter } from '../../src/pool/lane-server.js';
import type { EngineTask } from '../../src/pool/types.js';
import { answerInto, OpenReleases } from '../../src/worker.js';
import { openWire } from '../../src/api/lookup/context.js';

const releases = new OpenReleases((dir) => new Engine(openDataset(dir)));
const context = openWire({ open: (release) => releases.get(release) });

/** The answers to a frame, packed. */
export function answer({ dataset, frame, now }: EngineTask): Uint8Array {
  const writer = new AnswerWriter(0);
  answerInto(writer, releases.get(dataset), frame, now, context);
  return writer.bytes();
}
