/** Worker: bytes in, bytes out. */
import { workerData } from 'node:worker_threads';
import { move } from 'piscina';
import { OpenReleases } from '../src/dataset/live.js';
import { openDataset } from '../src/dataset/open.js';
import { createLog, faultOf } from '../src/log.js';
import type { EngineSettings, EngineTask } from '../src/pool.js';
import { answerFrame } from '../src/wire/answer.js';
import { openWire } from '../src/wire/context.js';

const settings: EngineSettings = workerData;
const log = createLog(settings.logLevel);
const releases = new OpenReleases(openDataset);
const context = openWire({
  baseUrl: settings.baseUrl,
  precisionMin: settings.precisionMin,
  report: (error) => log.error('lookup failed', { fault: faultOf(error) }),
});

export function answer({ dataset, frame, now }: EngineTask): ReturnType<typeof move> {
  return move(answerFrame(releases.get(dataset), frame, now, context));
}
