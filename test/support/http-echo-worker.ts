/**
 * A worker without a dataset. An address gets a fixed body, other queries what they ask for:
 * `exit` ends the thread, `throw` fails the task, `hang` computes for ever, `stand` waits for ever, `sleep` for a while,
 * `heap` tells the limits of its heap, `settings` what it was told, `grow=N` gets N bytes, `echo` and anything else the query.
 */
import { resourceLimits, workerData } from 'node:worker_threads';

import type { Answer } from '../../src/pool/types.js';
import type { EngineTask } from '../../src/pool/types.js';
import { RequestReader, serveLane, type ServeTask } from '../../src/pool/lane-server.js';

const BODY_BYTES = 1900;
const SLEEP_MS = 200;
const NEVER_WOKEN = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
const BODY = Buffer.alloc(BODY_BYTES, '{"filler":"0123456789"}');

const FIXED: Answer = { status: 200, code: 100, precision: 1, flags: 0, body: [BODY] };

function answerWord(query: string, task: EngineTask): Answer {
  if (query === 'exit') process.exit(3);
  if (query === 'throw') throw new Error('asked to fail');
  while (query === 'hang');
  // The thread is kept as by one that computes, and takes nothing from other processes.
  if (query === 'stand') Atomics.wait(NEVER_WOKEN, 0, 0);
  if (query === 'sleep') Atomics.wait(NEVER_WOKEN, 0, 0, SLEEP_MS);
  if (query === 'dataset') return { ...FIXED, body: [Buffer.from(task.dataset.id)] };
  if (query === 'heap') return { ...FIXED, body: [JSON.stringify(resourceLimits)] };
  if (query === 'settings') return { ...FIXED, body: [JSON.stringify(workerData)] };
  if (query === 'xml') return { ...FIXED, flags: 7, body: [Buffer.from('<a/>')] };
  const grown = /^grow=(\d+)$/.exec(query);
  if (grown !== null) return { ...FIXED, body: [Buffer.alloc(Number(grown[1]), 'g')] };
  return { ...FIXED, body: [query] };
}

export function serve(task: ServeTask): never {
  return serveLane(task, (engineTask, into) => {
    const requests = new RequestReader(engineTask.frame);
    for (let next = requests.next(); next !== null; next = requests.next()) {
      // Queries come with one character per byte.
      const { payload } = next;
      const query = (
        typeof payload === 'string' ? Buffer.from(payload, 'latin1') : payload
      ).toString();
      into.add(query.startsWith('address=') ? FIXED : answerWord(query, engineTask));
    }
  });
}
