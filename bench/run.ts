/**
 * npm run bench [-- --case NAME]… [--json FILE] [--seconds N]
 *
 * Measures the active dataset of SITUS_VAR, with each case in a process of its own.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { availableParallelism, cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { loadConfig } from '../src/config.js';
import { currentRelease, releasesDir } from '../src/dataset/release.js';
import { messageOf } from '../src/log.js';
import { bulkBesideCase, bulkCsvCase, bulkNdjsonCase } from './case/bulk.js';
import { cartCase } from './case/cart.js';
import { cartLargeCase, httpCartCase } from './case/http-cart.js';
import type { BenchCase, BenchInput, Figure } from './case/case.js';
import { coalescingCase } from './case/coalescing.js';
import { durableCreatesCase } from './case/durable-creates.js';
import { engineCase } from './case/engine.js';
import { fleetJobCase } from './case/fleet-job.js';
import { httpCase } from './case/http.js';
import { limiterCase } from './case/limiter.js';
import { listenersCase } from './case/listeners.js';
import { limitsCase } from './case/limits.js';
import type { QueryKind } from './case/queries.js';
import { storePostgresCase } from './case/store-postgres.js';
import { streamCartsCase } from './case/stream.js';
import { streamNatsCase } from './case/stream-nats.js';
import { ticCase } from './case/tic.js';
import { transportCase } from './case/transport.js';

const KINDS: readonly QueryKind[] = ['zip', 'point', 'address'];

const CASES: Readonly<Record<string, BenchCase>> = {
  ...Object.fromEntries(
    KINDS.map((kind) => [`engine-${kind}`, (input: BenchInput) => engineCase(kind, input)]),
  ),
  'engine-cart': cartCase,
  'http-cart': httpCartCase,
  'http-transport': transportCase,
  'cart-large-beside-lookups': cartLargeCase,
  coalescing: coalescingCase,
  'durable-creates': durableCreatesCase,
  limiter: limiterCase,
  listeners: listenersCase,
  'store-postgres': storePostgresCase,
  limits: limitsCase,
  'tic-search': ticCase,
  'bulk-csv': bulkCsvCase,
  'bulk-ndjson': bulkNdjsonCase,
  'bulk-beside-lookups': bulkBesideCase,
  'fleet-job': fleetJobCase,
  'stream-carts': streamCartsCase,
  'stream-nats': streamNatsCase,
  ...Object.fromEntries(
    KINDS.map((kind) => [`http-${kind}`, (input: BenchInput) => httpCase(kind, 'again', input)]),
  ),
  'http-zip-every': (input: BenchInput) => httpCase('zip', 'every', input),
  ...Object.fromEntries(
    KINDS.map((kind) => [`http-${kind}-new`, (input: BenchInput) => httpCase(kind, 'new', input)]),
  ),
};

function verdict({ value, target }: Figure): string {
  if (target === undefined) return '';
  const [sign, bound] =
    target.atLeast !== undefined ? ['≥', target.atLeast] : ['≤', target.atMost ?? 0];
  const met = target.atLeast !== undefined ? value >= bound : value <= bound;
  return `${met ? 'reached' : 'MISSED'} (${sign} ${bound})`;
}

function print(figure: Figure): void {
  const value =
    figure.value >= 1000
      ? Math.round(figure.value).toLocaleString('en')
      : figure.value.toPrecision(3);
  process.stdout.write(
    `${figure.name.padEnd(28)} ${value.padStart(10)} ` +
      `${figure.unit.padEnd(11)} ${verdict(figure).padEnd(20)} ${figure.note ?? ''}`.trimEnd() +
      '\n',
  );
}

/** The commit that is measured; "" outside a checkout. */
function commit(): string {
  try {
    return execFileSync('git', ['rev-parse', '--short', 'HEAD'], { stdio: 'pipe' })
      .toString()
      .trim();
  } catch {
    return '';
  }
}

async function inOwnProcess(name: string, seconds: number): Promise<readonly Figure[]> {
  const child = spawn(
    process.execPath,
    [fileURLToPath(import.meta.url), '--only', name, '--seconds', String(seconds)],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  let text = '';
  child.stdout.on('data', (piece: Buffer) => {
    text += piece.toString('utf8');
  });
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`case ${name} failed`);
  return JSON.parse(text) as Figure[];
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      case: { type: 'string', multiple: true, default: Object.keys(CASES) },
      json: { type: 'string' },
      only: { type: 'string' },
      seconds: { type: 'string', default: '2' },
    },
  });
  const { varDir } = loadConfig();
  const release = currentRelease(varDir);
  if (release === null) {
    throw new Error('no dataset is active; build one with: npx situs dataset build --activate');
  }
  const seconds = Number(values.seconds);
  if (values.only !== undefined) {
    const run = CASES[values.only];
    if (run === undefined) throw new Error(`no case "${values.only}"`);
    const figures = await run({ varDir, datasetDir: join(releasesDir(varDir), release), seconds });
    process.stdout.write(JSON.stringify(figures), () => process.exit(0));
    return;
  }
  const figures: Figure[] = [];
  for (const name of values.case) {
    if (CASES[name] === undefined) {
      throw new Error(`no case "${name}"; there are: ${Object.keys(CASES).join(', ')}`);
    }
    const measured = await inOwnProcess(name, seconds);
    measured.forEach(print);
    figures.push(...measured);
  }
  if (values.json !== undefined) {
    writeFileSync(
      values.json,
      `${JSON.stringify(
        {
          machine:
            `${cpus()[0]?.model ?? 'unknown'}, ${availableParallelism()} cores, ` +
            `${Math.round(totalmem() / 1024 ** 3)} GiB`,
          node: process.version,
          commit: commit(),
          dataset: release,
          date: new Date().toISOString(),
          figures,
        },
        null,
        1,
      )}\n`,
    );
  }
}

try {
  await main();
} catch (error) {
  process.stderr.write(`${messageOf(error)}\n`);
  process.exitCode = 1;
}
