/**
 * A worker that keeps as much as the service's workers may and reads the bodies that it is sent
 * beside it, as both cart endpoints and what is relayed are read. It says when it has read one.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { readJson } from '../../src/api/cart/cart-text.js';
import { answerBody } from '../../src/api/merchant/checked-body.js';

const DOUBLE_BYTES = 8;
const NUMBERS = 50_000;

/** What it is told. */
export interface FullWorkerData {
  readonly keptBytes: number;
  /** How often it reads each body. */
  readonly times: number;
}

const { keptBytes, times }: FullWorkerData = workerData;
const kept = Array.from({ length: Math.ceil(keptBytes / (NUMBERS * DOUBLE_BYTES)) }, () =>
  new Array<number>(NUMBERS).fill(0.5),
);

parentPort!.on('message', (bytes: Uint8Array) => {
  for (let time = 0; time < times; time += 1) {
    readJson(bytes);
    answerBody({ kind: 'relayed', operation: 'cart/calculate' }, Buffer.from(bytes));
  }
  parentPort!.postMessage(kept.length);
});
