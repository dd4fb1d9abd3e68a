/**
 * npm run nation -- --points N [--ranges N] [--records N] [--seed N] [--workers N] [--dir DIR]
 *   [--keep] [--json FILE] [--keep-parts] [--update SS]
 *
 * Writes a synthetic nation (bench/nation/nation.ts) below DIR, builds the boundaries and rates of
 * `default` with it in a process of its own, and prints how long that took. `--reuse` takes files
 * that are in DIR already; with `--keep-parts`, unchanged sources are not read again. With
 * `--update SS` the nation is published on the loopback interface instead, and the times are those
 * of the first `situs dataset update`, and of an update of the state SS after some of its doors
 * changed.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type NationFiles, writeNation } from './nation/nation.js';
import { measureUpdate } from './nation/update.js';

const BUILDER = fileURLToPath(new URL('./nation/builder.js', import.meta.url));

function countOf(text: string | undefined, name: string): number {
  const count = Number((text ?? '0').replaceAll('_', ''));
  if (!Number.isInteger(count) || count < 0) throw new Error(`--${name} takes a whole number`);
  return count;
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      points: { type: 'string' },
      ranges: { type: 'string' },
      records: { type: 'string' },
      seed: { type: 'string' },
      workers: { type: 'string' },
      dir: { type: 'string' },
      keep: { type: 'boolean' },
      reuse: { type: 'boolean' },
      json: { type: 'string' },
      'keep-parts': { type: 'boolean' },
      update: { type: 'string' },
    },
  });
  const folder = values.dir ?? mkdtempSync(join(tmpdir(), 'situs-nation-'));
  mkdirSync(folder, { recursive: true });
  const list = join(folder, 'files.json');
  try {
    const began = performance.now();
    const reused = values.reuse === true && existsSync(list);
    const files: NationFiles = reused
      ? (JSON.parse(readFileSync(list, 'utf8')) as NationFiles)
      : writeNation(folder, {
          points: countOf(values.points, 'points'),
          ranges: countOf(values.ranges, 'ranges'),
          records: countOf(values.records, 'records'),
          seed: countOf(values.seed, 'seed'),
        });
    if (!reused) writeFileSync(list, JSON.stringify(files));
    process.stderr.write(`files: ${((performance.now() - began) / 1000).toFixed(1)} s\n`);
    if (values.update !== undefined) {
      const told = `${JSON.stringify(await measureUpdate(folder, files, values.update), null, 2)}\n`;
      process.stdout.write(told);
      if (values.json !== undefined) writeFileSync(values.json, told);
      return 0;
    }
    const kept = values['keep-parts'] === true ? 'kept' : '';
    const child = spawn(process.execPath, [BUILDER, folder, values.workers ?? '', kept], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let told = '';
    child.stdout.on('data', (piece: Buffer) => {
      told += piece.toString('utf8');
    });
    const [code] = (await once(child, 'close')) as [number | null];
    process.stdout.write(told);
    if (values.json !== undefined) writeFileSync(values.json, told);
    return code ?? 1;
  } finally {
    if (values.keep !== true && values.dir === undefined) rmSync(folder, { recursive: true });
  }
}

process.exitCode = await main();
