/** Clients that reset their connection at any moment, with every operation of the service. */
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { buildRecipe } from '../../test/support/built-dataset.js';
import { seeded } from '../case/case.js';
import { startSitus } from '../load/situs-server.js';
import { operationsOf, silenceOf, type Operation } from './operations.js';

const AT_ONCE = 8;
/** How many resets there are between two checks of the server. */
const LOOK_EVERY = 500;
const PIPELINED_MAX = 40;
const WAIT_MS_MAX = 4;

interface ResetsResult {
  readonly resets: number;
  readonly operations: number;
  readonly wrong: readonly string[];
}

/** Sends a request, several, or a part of one, and resets the connection. */
async function resetOnce(
  port: number,
  { request, chunked }: Operation,
  random: () => number,
): Promise<void> {
  const one = chunked !== null && random() < 0.3 ? chunked : request;
  const many = random() < 0.5 ? one : one.repeat(1 + Math.floor(random() * PIPELINED_MAX));
  const text = random() < 0.2 ? many.slice(0, Math.floor(random() * many.length)) : many;
  const wait = random();
  await new Promise<void>((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    socket.once('error', () => resolve()).once('close', () => resolve());
    socket.once('connect', () => {
      socket.write(text);
      const reset = (): void => {
        socket.resetAndDestroy();
      };
      if (wait < 0.4) reset();
      else if (wait < 0.6) setImmediate(reset);
      else setTimeout(reset, (wait - 0.6) * 2.5 * WAIT_MS_MAX);
    });
  });
}

/** Starts a service and resets `count` connections to it. */
export async function resets(
  count: number,
  seed: number,
  report: (line: string) => void,
): Promise<ResetsResult> {
  const built = buildRecipe('fixture');
  const server = await startSitus(built.varDir);
  const random = seeded(seed);
  const wrong: string[] = [];
  try {
    const operations = await operationsOf(server.port);
    let done = 0;
    while (done < count && wrong.length === 0) {
      for (const until = Math.min(count, done + LOOK_EVERY); done < until; done += AT_ONCE) {
        await Promise.all(
          Array.from({ length: AT_ONCE }, (_, at) =>
            resetOnce(server.port, operations[(done + at) % operations.length]!, random),
          ),
        );
      }
      await delay(20);
      const silence = await silenceOf(server.port);
      if (silence !== null) wrong.push(`after ${done} resets the service ${silence}`);
      report(`${done} resets`);
    }
    return { resets: done, operations: operations.length, wrong };
  } finally {
    await server.stop();
    built.remove();
  }
}
