/** PostgreSQL, Redis and NATS for a fleet, on an address that all its nodes can reach. */
import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const POSTGRES_PORT = 15_432;
const REDIS_PORT = 16_379;
const NATS_PORT = 14_222;
/** The folder in which Debian keeps the programs of each version. */
const POSTGRES_DIR = '/usr/lib/postgresql';
/** PostgreSQL refuses to run as root. */
const POSTGRES_USER = 'postgres';
const WAIT_MS = 60_000;
const LOOK_MS = 50;

function postgresBin(): string | null {
  const versions = existsSync(POSTGRES_DIR) ? readdirSync(POSTGRES_DIR) : [];
  const newest = versions.sort((a, b) => Number(a) - Number(b)).at(-1);
  return newest === undefined ? null : join(POSTGRES_DIR, newest, 'bin');
}

/** Which engine is missing, in a sentence; null where all are installed. */
export function enginesProblem(): string | null {
  if (postgresBin() === null) return `there is no PostgreSQL in ${POSTGRES_DIR}`;
  for (const [program, name] of [
    ['redis-server', 'Redis'],
    ['nats-server', 'NATS'],
  ] as const) {
    const { error } = spawnSync(program, ['--version'], { stdio: 'ignore' });
    if (error !== undefined) return `there is no program ${program} (${name})`;
  }
  return null;
}

async function listening(host: string, port: number): Promise<void> {
  const until = performance.now() + WAIT_MS;
  for (;;) {
    const open = await new Promise<boolean>((resolve) => {
      const socket = connect(port, host, () => {
        socket.destroy();
        resolve(true);
      }).once('error', () => resolve(false));
    });
    if (open) return;
    if (performance.now() > until) throw new Error(`nothing listens on ${host}:${port}`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

export class FleetEngines {
  readonly postgres: string;
  readonly redis: string;
  readonly nats: string;
  readonly #host: string;
  readonly #dir = mkdtempSync(join(tmpdir(), 'situs-fleet-'));
  readonly #children: ChildProcess[] = [];

  /** `host` is the address on which the engines listen. */
  constructor(host: string) {
    this.#host = host;
    this.postgres = `postgres://${POSTGRES_USER}@${host}:${POSTGRES_PORT}/postgres`;
    this.redis = `redis://${host}:${REDIS_PORT}`;
    this.nats = `nats://${host}:${NATS_PORT}`;
  }

  async start(): Promise<void> {
    this.#startPostgres();
    const own = (name: string): string => {
      const dir = join(this.#dir, name);
      mkdirSync(dir);
      return dir;
    };
    this.#spawn('redis-server', [
      '--bind',
      this.#host,
      '--port',
      String(REDIS_PORT),
      '--save',
      '',
      '--protected-mode',
      'no',
      '--dir',
      own('redis'),
    ]);
    this.#spawn('nats-server', [
      '-a',
      this.#host,
      '-p',
      String(NATS_PORT),
      '-js',
      '-sd',
      own('nats'),
    ]);
    await Promise.all(
      [POSTGRES_PORT, REDIS_PORT, NATS_PORT].map((port) => listening(this.#host, port)),
    );
  }

  async stop(): Promise<void> {
    for (const child of this.#children) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      // On this signal PostgreSQL also ends its child processes.
      child.kill('SIGQUIT');
      await once(child, 'close');
    }
    rmSync(this.#dir, { recursive: true, force: true });
  }

  #startPostgres(): void {
    const bin = postgresBin() ?? '';
    const dir = join(this.#dir, 'postgres');
    execFileSync('install', ['-d', '-o', POSTGRES_USER, '-m', '700', dir]);
    execFileSync('chmod', ['711', this.#dir]);
    const as = (program: string): readonly string[] => [
      `--reuid=${POSTGRES_USER}`,
      `--regid=${POSTGRES_USER}`,
      '--init-groups',
      join(bin, program),
    ];
    execFileSync('setpriv', [...as('initdb'), '-D', dir, '-A', 'trust', '-E', 'UTF8'], {
      stdio: ['ignore', 'ignore', 'pipe'],
      cwd: '/',
    });
    appendFileSync(join(dir, 'pg_hba.conf'), 'host all all samenet trust\n');
    this.#spawn('setpriv', [
      ...as('postgres'),
      '-D',
      dir,
      '-p',
      String(POSTGRES_PORT),
      '-c',
      `listen_addresses=${this.#host}`,
      '-c',
      `unix_socket_directories=${dir}`,
    ]);
  }

  #spawn(program: string, args: readonly string[]): void {
    this.#children.push(spawn(program, [...args], { stdio: 'ignore', cwd: '/' }));
  }
}
