/**
 * Clients that send many requests ahead and read no answers, with every operation of the service.
 */
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { buildRecipe } from '../../test/support/built-dataset.js';
import { startSitus } from '../load/situs-server.js';
import { operationsOf, silenceOf } from './operations.js';
import { ServerMemory } from './server-memory.js';

const CONNECTIONS = 6;
/** How many bytes of requests are sent on each connection. */
const ASKED_BYTES = 1_048_576;
const LOOKS = 6;
const LOOK_MS = 100;
/**
 * How much memory of its own the service may take beyond that when idle: answers, and what the
 * engine needs for them.
 */
const GROWTH_BYTES_MAX = 160 * 1_048_576;
const MIB = 1_048_576;

interface PipelinesResult {
  readonly operations: number;
  readonly requests: number;
  /** The most memory beyond that of the idle service. */
  readonly grownBytes: number;
  readonly wrong: readonly string[];
}

function deaf(port: number, text: string): Socket {
  const socket = connect({ port, host: '127.0.0.1' });
  socket.on('error', () => undefined).pause();
  socket.write(text);
  return socket;
}

/** Starts a service, and sends such requests to each of its operations; `rounds` times. */
export async function pipelines(
  rounds: number,
  report: (line: string) => void,
): Promise<PipelinesResult> {
  const built = buildRecipe('fixture');
  const server = await startSitus(built.varDir);
  const memory = new ServerMemory(server.pid);
  const wrong: string[] = [];
  let requests = 0;
  let grownBytes = 0;
  try {
    const operations = await operationsOf(server.port);
    for (let round = 0; round < rounds && wrong.length === 0; round += 1) {
      for (const { name, request } of operations) {
        const count = Math.ceil(ASKED_BYTES / request.length);
        const text = request.repeat(count);
        const sockets = Array.from({ length: CONNECTIONS }, () => deaf(server.port, text));
        for (let look = 0; look < LOOKS; look += 1) await delay(LOOK_MS);
        requests += CONNECTIONS * count;
        grownBytes = memory.own - memory.idle;
        const grown = `${name}: ${Math.round(grownBytes / MIB)} MiB`;
        report(grown);
        if (grownBytes > GROWTH_BYTES_MAX) wrong.push(`more memory than allowed, ${grown}`);
        for (const socket of sockets) socket.destroy();
        const silence = await silenceOf(server.port);
        if (silence !== null) wrong.push(`after ${name} the service ${silence}`);
        if (wrong.length > 0) break;
      }
    }
    if (!memory.known) wrong.push('this system does not tell the memory of a process');
    return { operations: operations.length, requests, grownBytes, wrong };
  } finally {
    memory.end();
    await server.stop();
    built.remove();
  }
}
