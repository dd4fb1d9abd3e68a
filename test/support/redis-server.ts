/** A Redis or Valkey of a test's own, as a process that can be stopped, emptied and started again. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { Redis } from 'ioredis';
import { eventually } from './http-eventually.js';
import { freePort } from './free-port.js';
import { skipForWantOf } from './wanting.js';

const PROGRAMS = ['redis-server', 'valkey-server'];

/** The first program that is there; null, and the test is skipped, where none is. */
function redisProgram(context: TestContext): string | null {
  const found = PROGRAMS.find(
    (name) => spawnSync(name, ['--version'], { stdio: 'ignore' }).status === 0,
  );
  if (found !== undefined) return found;
  skipForWantOf(context, 'neither redis-server nor valkey-server is installed');
  return null;
}

export interface OwnRedis {
  readonly url: string;
  readonly socket: string;
  readonly child: ChildProcess;
  /** A connection of the test's own. */
  readonly redis: Redis;
  /** Ends it without a word; its memory is lost. */
  kill(): Promise<void>;
  /** Starts it again on the same port, empty. */
  start(): Promise<void>;
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write('PING\r\n'));
    socket
      .once('data', () => {
        socket.destroy();
        resolve(true);
      })
      .once('error', () => resolve(false));
  });
}

/** Starts one that ends with the test; null where there is no program. */
export async function startRedis(
  context: TestContext,
  more: readonly string[] = [],
): Promise<OwnRedis | null> {
  const program = redisProgram(context);
  if (program === null) return null;
  const port = await freePort();
  const dir = mkdtempSync(join(tmpdir(), 'situs-redis-'));
  const socket = join(dir, 'redis.sock');
  let child: ChildProcess | null = null;
  const start = async (): Promise<void> => {
    child = spawn(
      program,
      [
        '--port',
        String(port),
        '--bind',
        '127.0.0.1',
        '--dir',
        dir,
        '--save',
        '',
        '--unixsocket',
        socket,
        ...more,
      ],
      { stdio: 'ignore' },
    );
    await eventually(async () => answers(port));
  };
  const kill = async (): Promise<void> => {
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'close');
  };
  await start();
  const redis = new Redis({ port, host: '127.0.0.1', lazyConnect: true });
  redis.on('error', () => undefined);
  context.after(async () => {
    redis.disconnect();
    await kill();
    rmSync(dir, { recursive: true, force: true });
  });
  return {
    url: `redis://127.0.0.1:${port}`,
    socket,
    redis,
    kill,
    start,
    get child() {
      if (child === null) throw new Error('it was not started');
      return child;
    },
  };
}
