/**
 * A worker without a dataset. Every answer is a fixed body, or what the query asks for:
 * `exit` ends the thread, `throw` fails the task, `hang` never returns, `echo` returns the query.
 */
import { move } from 'piscina';
import { packAnswers, readRequests, type Answer } from '../../src/engine/frame.js';
import type { EngineTask } from '../../src/pool.js';

const BODY_BYTES = 1900;
const BODY = Buffer.alloc(BODY_BYTES, '{"filler":"0123456789"}');

function answerOne(query: string, task: EngineTask): Answer {
  if (query === 'exit') process.exit(3);
  if (query === 'throw') throw new Error('asked to fail');
  while (query === 'hang');
  const answer = { status: 200, code: 100, precision: 1, flags: 0 };
  if (query.startsWith('spin=')) {
    const until = performance.now() + Number(query.slice(5));
    while (performance.now() < until);
  }
  if (query.startsWith('echo')) return { ...answer, body: [Buffer.from(query)] };
  if (query === 'dataset') return { ...answer, body: [Buffer.from(task.dataset.id)] };
  if (query === 'xml') return { ...answer, flags: 7, body: [Buffer.from('<a/>')] };
  return { ...answer, body: [BODY] };
}

export function answer(task: EngineTask): ReturnType<typeof move> {
  const answers: Answer[] = [];
  for (const request of readRequests(task.frame)) {
    answers.push(answerOne(request.payload.toString(), task));
  }
  return move(packAnswers(answers));
}
