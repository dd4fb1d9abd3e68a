/**
 * The steps of the Dockerfile, done here in folders instead of in images, make a program that starts
 * and that the health check finds ready. It is no test of the base image, nor of the builder.
 */
import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import { test, type TestContext } from 'node:test';
import { BUNDLED } from '../../scripts/bundled.js';
import { packageRoot } from '../../src/ingest/source-files.js';
import { buildRecipe } from '../support/built-dataset.js';
import { environmentOf, execWords, readStages, type Step } from '../support/packaging-files.js';
import { eventually } from '../support/http-eventually.js';
import {
  besideKept,
  copyCompiled,
  keptFolder,
  linkAs,
  npmVersion,
  registryEnvironment,
  unlinkRewritten,
} from '../support/kept-folders.js';
import { NO_REGISTRY } from '../support/packed.js';
import { skipForWantOf } from '../support/wanting.js';

const ROOT = packageRoot();
const STAGES = readStages(join(ROOT, 'Dockerfile'));
const ABSOLUTE = /(?<= )\/(?=\w)/g;

/** Variables of commands that are run: npm asks the registry for what it has not. */
const NPM = { npm_config_prefer_offline: 'true', npm_config_fetch_retries: '0' };
/** What carries the steps out, besides the commands that they name. */
const CARRIERS = [import.meta.filename, join(import.meta.dirname, '../support/packaging-files.js')];

/** Where a stage's root and working folder are here. */
interface Place {
  readonly root: string;
  work: string;
}

/** What is written after the compiler, and no work of its own. */
const AFTER = BUNDLED.flatMap((name) => [`${name}.js`, `${name}.js.map`]);

function copy({ words, from }: Step, place: Place, roots: ReadonlyMap<string, string>): void {
  const sources = words.slice(0, -1);
  const to = join(place.work, words.at(-1)!);
  for (const source of sources) {
    const path = join(from === null ? ROOT : roots.get(from)!, source);
    const target = words.at(-1)!.endsWith('/') ? join(to, basename(source)) : to;
    if (from === null) {
      copyCompiled(source, place.work, AFTER);
      cpSync(path, target, { recursive: true, filter: (each) => !each.includes('/scripts/style') });
    } else {
      // A stage that is done is not changed any more, so that links do for its thousands of files.
      linkAs(path, target);
    }
  }
}

/** Does steps below a stage's root. @throws what a command of it said. */
function carryOut(steps: readonly Step[], place: Place, roots: ReadonlyMap<string, string>): void {
  for (const step of steps) {
    switch (step.keyword) {
      case 'WORKDIR':
        place.work = join(place.root, step.text);
        mkdirSync(place.work, { recursive: true });
        break;
      case 'COPY':
        copy(step, place, roots);
        break;
      case 'RUN':
        execFileSync('sh', ['-c', step.text.replaceAll(ABSOLUTE, `${place.root}/`)], {
          cwd: place.work,
          stdio: ['ignore', 'pipe', 'pipe'],
          env: { ...registryEnvironment(), ...NPM },
        });
        break;
    }
  }
}

/** Files of this folder that steps copy. */
function copiedBy(steps: readonly Step[]): readonly string[] {
  return steps
    .filter(({ keyword, from }) => keyword === 'COPY' && from === null)
    .flatMap(({ words }) => words.slice(0, -1).map((path) => join(ROOT, path)));
}

/** Steps up to each command, and what follows the last. */
function untilCommands(steps: readonly Step[]): readonly (readonly Step[])[] {
  const ends = steps.flatMap(({ keyword }, index) => (keyword === 'RUN' ? [index + 1] : []));
  return [...new Set([...ends, steps.length])].map((end, at) =>
    steps.slice(ends[at - 1] ?? 0, end),
  );
}

/**
 * What steps come to that take nothing of another stage: kept after each command, as an image's builder
 * keeps it, and taken again as long as no step up to there changes, nor anything that one copies.
 */
function keptRoot(stage: number, parts: readonly (readonly Step[])[]): string {
  const [earlier, all] = [parts.slice(0, -1), parts.flat()];
  return keptFolder(
    {
      args: ['steps of the Dockerfile', String(stage), String(parts.length)],
      content: [...CARRIERS, ...copiedBy(all)],
      listed: [],
      texts: [npmVersion(), ...all.map(({ keyword, text }) => `${keyword} ${text}`)],
    },
    (root) => {
      const { text = '' } = earlier.flat().findLast(({ keyword }) => keyword === 'WORKDIR') ?? {};
      const place = { root, work: join(root, text) };
      if (earlier.length === 0) {
        mkdirSync(root);
        return carryOut(all, place, new Map());
      }
      const kept = keptRoot(stage, earlier);
      const begun = new Date().toISOString();
      linkAs(kept, root);
      unlinkRewritten(place.work);
      carryOut(parts.at(-1)!, place, new Map());
      const changed = execFileSync('find', [kept, '-type', 'f', '-newermt', begun]);
      assert.equal(changed.toString('utf8'), '', 'a command wrote to what is kept');
    },
  );
}

/** Does all stages' steps, and gives the folder of the last. */
function carryOutAll(dir: string): Place {
  const roots = new Map<string, string>();
  let place: Place | undefined;
  for (const [index, { steps, name }] of STAGES.entries()) {
    const isOwn = steps.every(({ from }) => from === null);
    const root = isOwn ? keptRoot(index, untilCommands(steps)) : join(dir, `stage-${index}`);
    place = { root, work: root };
    roots.set(name ?? String(index), root);
    if (isOwn) continue;
    mkdirSync(root);
    carryOut(steps, place, roots);
  }
  return place!;
}

function wordsOf(keyword: string): readonly string[] {
  const [step] = STAGES.at(-1)!.steps.filter((each) => each.keyword === keyword);
  return execWords(step!.text)!;
}

async function startIn(context: TestContext, place: Place): Promise<string> {
  const built = buildRecipe('fixture');
  context.after(() => built.remove());
  const [command, ...args] = wordsOf('CMD');
  const server = spawn(command!, args, {
    cwd: place.work,
    stdio: ['ignore', 'pipe', 'ignore'],
    env: {
      ...environmentOf(STAGES.at(-1)!),
      PATH: process.env['PATH'],
      SITUS_VAR: built.varDir,
      PORT: '0',
      SITUS_DRAIN_SECONDS: '0',
    },
  });
  context.after(async () => {
    server.kill('SIGTERM');
    if (server.exitCode === null) await once(server, 'exit');
    assert.equal(server.exitCode, 0);
  });
  for await (const line of createInterface({ input: server.stdout })) {
    const found = /^Situs answers on http:\S+:(\d+)$/.exec(line);
    if (found !== null) return found[1]!;
  }
  throw new Error('the server ended');
}

function healthOf(port: string): number | null {
  const [command, ...args] = wordsOf('HEALTHCHECK');
  return spawnSync(command!, args, { env: { PATH: process.env['PATH'], PORT: port } }).status;
}

test('the steps of the Dockerfile make a program that becomes healthy', async (context) => {
  if (process.getuid?.() !== 0) return context.skip('only root gives folders to others');
  const dir = mkdtempSync(join(besideKept(), 'situs-image-'));
  context.after(() => rmSync(dir, { recursive: true, force: true }));
  let place: Place;
  try {
    place = carryOutAll(dir);
  } catch (error) {
    if (!NO_REGISTRY.test(String(error))) throw error;
    return skipForWantOf(context, 'the npm registry cannot be reached');
  }
  const size = execFileSync('du', ['-sm', join(dir, `stage-${STAGES.length - 1}`)]).toString(
    'utf8',
  );
  context.diagnostic(`beside the base image ${size.split('\t')[0]} MiB`);
  const port = await startIn(context, place);
  // The first worker may begin later than the port is there; so builders ask again too.
  await eventually(() => healthOf(port) === 0);
  // Nobody listens on port 1.
  assert.equal(healthOf('1'), 1);
});
