/**
 * npm run torture [-- --case NAME]… [--kills N] [--bodies N] [--seed N]
 *
 * Breaks the compiled server on purpose and checks that nothing acknowledged is lost. Every case
 * works in a folder of its own.
 */
import { parseArgs } from 'node:util';
import { bulkFuzz, FUZZ_BODIES } from './torture/bulk-fuzz.js';
import type { TortureCase } from './torture/case.js';
import { killCase } from './torture/kill.js';
import { streamCuts } from './torture/stream-cuts.js';

const KILLS = 200;

const CASES: Readonly<Record<string, TortureCase>> = {
  kill: killCase,
};

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      case: { type: 'string', multiple: true, default: [...Object.keys(CASES), 'bulk-fuzz'] },
      kills: { type: 'string', default: String(KILLS) },
      bodies: { type: 'string', default: String(FUZZ_BODIES) },
      seed: { type: 'string', default: '1' },
    },
  });
  let sound = true;
  for (const name of values.case) {
    if (name === 'bulk-fuzz') {
      const { bodies, wrong } = bulkFuzz(Number(values.bodies), Number(values.seed),
        (line) => process.stderr.write(`${line}\n`));
      process.stdout.write(`${name} bodies ${bodies}, wrong ${wrong.length}\n`);
      for (const line of wrong) process.stdout.write(`  ${line}\n`);
      if (wrong.length > 0) sound = false;
      continue;
    }
    const run = CASES[name];
    if (run === undefined) {
      throw new Error(`no case "${name}"; there are: ${
        [...Object.keys(CASES), 'bulk-fuzz'].join(', ')}`);
    }
    const { kills, acknowledged, repeated, lost, wrong } = await run({
      kills: Number(values.kills), seed: Number(values.seed),
      report: (line) => process.stderr.write(`${line}\n`),
    });
    process.stdout.write(`${name.padEnd(8)} kills ${kills}, acknowledged writes ${acknowledged}, ` +
      `sent again ${repeated}, lost ${lost.length}, wrong ${wrong.length}\n`);
    for (const line of [...lost.map((each) => `lost: ${each}`), ...wrong]) {
      process.stdout.write(`  ${line}\n`);
    }
    if (lost.length + wrong.length > 0) sound = false;
  }
  return sound ? 0 : 1;
}

process.exitCode = await main();
