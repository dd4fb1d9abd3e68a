/**
 * npm run torture [-- --case NAME]… [--kills N] [--bodies N] [--rows N] [--cuts N] [--carts N]
 *   [--damages N] [--updates N] [--seconds N] [--resets N] [--pipelines N] [--fleet-seconds N]
 *   [--replacements N]
 *   [--seed N]
 *
 * Breaks the compiled server on purpose, over the HTTP server that SITUS_TRANSPORT names, and
 * checks that nothing acknowledged is lost. Every case has a folder of its own. The rows of
 * `bulk-rows` are answered from the active dataset of SITUS_VAR, or from the recipe `default` where
 * none is active.
 */
import { parseArgs, type ParseArgsConfig } from 'node:util';
import { loadConfig } from '../src/config.js';
import { currentRelease } from '../src/dataset/release.js';
import { messageOf } from '../src/log.js';
import { buildRecipe } from '../test/support/built-dataset.js';
import { compareCarts } from './case/cart-oracle.js';
import { bulkFuzz, FUZZ_BODIES } from './torture/bulk-fuzz.js';
import { BULK_ROWS, bulkRows } from './torture/bulk-rows.js';
import type { TortureCase } from './torture/case.js';
import { FLEET_LOAD, FLEET_SECONDS, fleetCase } from './torture/fleet.js';
import { jobKillsCase } from './torture/job-kills.js';
import { killCase } from './torture/kill.js';
import { soak, SOAK_SECONDS } from './torture/soak.js';
import { ALL_TORN, tornCase } from './torture/torn.js';
import { pipelines } from './torture/pipelines.js';
import { inOwnNetwork, REPLACE_RATE, REPLACEMENTS, replacements } from './torture/replacements.js';
import { resets } from './torture/resets.js';
import { shares } from './torture/shares.js';
import { stalls } from './torture/stalls.js';
import { streamCuts } from './torture/stream-cuts.js';
import { updateKills } from './torture/update-kills.js';
import type { CaseOutcome } from './torture/service.js';

const KILLS = 200;
const CUTS = 200;
const CARTS = 1_000_000;
/** How often the case `update` kills. */
const UPDATE_KILLS = 20;
const RESETS = 5_000;
/** How many rounds over every operation the case `pipelines` makes. */
const PIPELINES = 1;

/** How long each attack of `stalls` lasts. */
const ATTACK_MS = 700;

const MIB = 1_048_576;

const CASES: Readonly<Record<string, TortureCase>> = {
  kill: killCase,
  'job-kills': jobKillsCase,
};

interface Amounts {
  readonly bodies: number;
  readonly rows: number;
  readonly cuts: number;
  readonly carts: number;
  readonly seconds: number;
  readonly damages: number;
  readonly updates: number;
  readonly resets: number;
  readonly pipelines: number;
  readonly fleetSeconds: number;
  readonly replacements: number;
  readonly seed: number;
}

const report = (line: string): void => {
  process.stderr.write(`${line}\n`);
};

async function bulkRowsCase({ rows, seed }: Amounts): Promise<CaseOutcome> {
  const { varDir } = loadConfig();
  if (currentRelease(varDir) !== null) return bulkRows(varDir, rows, seed);
  report('no dataset is active; building the recipe default');
  const built = buildRecipe('default');
  try {
    return await bulkRows(built.varDir, rows, seed);
  } finally {
    built.remove();
  }
}

/** Replaces listeners; it uses no other amount. */
async function replaceCase({ replacements: count }: Amounts): Promise<CaseOutcome> {
  const { answered, fresh, refused, failed, worst, rate, migrates, wrong } = await replacements(
    count,
    REPLACE_RATE,
    1,
    report,
  );
  const summary =
    `replacements ${count}, answered ${answered} (${fresh} on new connections, ` +
    `${rate} a second), ` +
    `refused ${refused}, failed ${failed}, worst ${worst.toFixed(0)} ms, ` +
    `tcp_migrate_req ${migrates ? 1 : 0}`;
  return { summary, wrong };
}

/** Cases with amounts of their own, which return a summary. */
const OTHERS: Readonly<Record<string, (amounts: Amounts) => Promise<CaseOutcome>>> = {
  'bulk-fuzz': async ({ bodies, seed }) => {
    const result = bulkFuzz(bodies, seed, report);
    return { summary: `bodies ${result.bodies}`, wrong: result.wrong };
  },
  'bulk-rows': bulkRowsCase,
  'stream-cuts': async ({ cuts, seed }) => {
    const result = await streamCuts(cuts, seed, report);
    return { summary: `cuts ${result.cuts}, messages ${result.messages}`, wrong: result.wrong };
  },
  shares: async () => shares(report),
  fleet: async ({ fleetSeconds, seed }) =>
    fleetCase({ seconds: fleetSeconds, ...FLEET_LOAD }, seed, report),
  torn: async ({ damages, seed }) => tornCase({ ...ALL_TORN, damages }, seed, report),
  update: async ({ updates, seed }) => updateKills(updates, seed, report),
  soak: async ({ seconds, seed }) => {
    const { varDir } = loadConfig();
    if (currentRelease(varDir) !== null) return soak(varDir, seconds, seed, report);
    report('no dataset is active; building the recipe default');
    const built = buildRecipe('default');
    try {
      return await soak(built.varDir, seconds, seed, report);
    } finally {
      built.remove();
    }
  },
  resets: async ({ resets: count, seed }) => {
    const result = await resets(count, seed, report);
    const { operations } = result;
    return { summary: `resets ${result.resets}, operations ${operations}`, wrong: result.wrong };
  },
  pipelines: async ({ pipelines: rounds }) => {
    const { operations, requests, grownBytes, wrong } = await pipelines(rounds, report);
    const grown = Math.round(grownBytes / MIB);
    return { summary: `operations ${operations}, requests ${requests}, grown ${grown} MiB`, wrong };
  },
  replace: replaceCase,
  stalls: async () => {
    const { attacks, idle, worst, limit, ownBytesMax, wrong } = await stalls({
      attackMs: ATTACK_MS,
      report,
    });
    const summary =
      `attacks ${attacks}, p99 of lookups idle ${idle.p99.toFixed(1)} ms, ` +
      `worst ${worst.toFixed(1)} ms, limit ${limit.toFixed(1)} ms (20 ms, or three times the ` +
      'idle p99 on a busy machine), ' +
      `server memory ${Math.round(ownBytesMax / MIB)} MiB`;
    return { summary, wrong };
  },
  carts: async ({ carts, seed }) => {
    const { answered, differences } = compareCarts(carts, seed, (done) => report(`${done} carts`));
    return { summary: `compared ${carts}, with amounts ${answered}`, wrong: differences };
  },
};

const NAMES = [...Object.keys(CASES), ...Object.keys(OTHERS)];

const OPTIONS = {
  case: { type: 'string', multiple: true, default: NAMES as string[] },
  kills: { type: 'string', default: String(KILLS) },
  bodies: { type: 'string', default: String(FUZZ_BODIES) },
  rows: { type: 'string', default: String(BULK_ROWS) },
  cuts: { type: 'string', default: String(CUTS) },
  carts: { type: 'string', default: String(CARTS) },
  damages: { type: 'string', default: String(ALL_TORN.damages) },
  seconds: { type: 'string', default: String(SOAK_SECONDS) },
  updates: { type: 'string', default: String(UPDATE_KILLS) },
  resets: { type: 'string', default: String(RESETS) },
  pipelines: { type: 'string', default: String(PIPELINES) },
  'fleet-seconds': { type: 'string', default: String(FLEET_SECONDS) },
  replacements: { type: 'string', default: String(REPLACEMENTS) },
  'own-network': { type: 'boolean', default: false },
  seed: { type: 'string', default: '1' },
} as const satisfies ParseArgsConfig['options'];

async function main(): Promise<number> {
  const { values } = parseArgs({ options: OPTIONS });
  if (values['own-network']) {
    const words = process.argv.slice(1).filter((word) => word !== '--own-network');
    const code = inOwnNetwork(words);
    if (code !== null) return code;
    throw new Error('a network of its own needs root, unshare and ip');
  }
  const amounts: Amounts = {
    bodies: Number(values.bodies),
    rows: Number(values.rows),
    cuts: Number(values.cuts),
    carts: Number(values.carts),
    seconds: Number(values.seconds),
    damages: Number(values.damages),
    updates: Number(values.updates),
    fleetSeconds: Number(values['fleet-seconds']),
    replacements: Number(values.replacements),
    resets: Number(values.resets),
    pipelines: Number(values.pipelines),
    seed: Number(values.seed),
  };
  let sound = true;
  for (const name of values.case) {
    const other = OTHERS[name];
    if (other !== undefined) {
      const { summary, wrong } = await other(amounts);
      process.stdout.write(`${name} ${summary}, wrong ${wrong.length}\n`);
      for (const line of wrong) process.stdout.write(`  ${line}\n`);
      if (wrong.length > 0) sound = false;
      continue;
    }
    const run = CASES[name];
    if (run === undefined) {
      throw new Error(`no case "${name}"; there are: ${NAMES.join(', ')}`);
    }
    const { kills, acknowledged, repeated, lost, wrong } = await run({
      kills: Number(values.kills),
      seed: amounts.seed,
      report,
    });
    process.stdout.write(
      `${name.padEnd(8)} kills ${kills}, acknowledged writes ${acknowledged}, ` +
        `sent again ${repeated}, lost ${lost.length}, wrong ${wrong.length}\n`,
    );
    for (const line of [...lost.map((each) => `lost: ${each}`), ...wrong]) {
      process.stdout.write(`  ${line}\n`);
    }
    if (lost.length + wrong.length > 0) sound = false;
  }
  return sound ? 0 : 1;
}

try {
  process.exitCode = await main();
} catch (error) {
  process.stderr.write(`${messageOf(error)}\n`);
  process.exitCode = 1;
}
