/**
 * The steps of the Dockerfile, done here in folders instead of in images, make a program that starts
 * and that the health check finds ready. It is no test of the base image, nor of the builder.
 */
import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { test, type TestContext } from 'node:test';
import { packageRoot } from '../../src/ingest/source-files.js';
import { buildRecipe } from '../support/built-dataset.js';
import {
  environmentOf,
  execWords,
  readStages,
  type Stage,
  type Step,
} from '../support/packaging-files.js';
import { eventually } from '../support/http-eventually.js';
import { NO_REGISTRY } from '../support/packed.js';
import { skipForWantOf } from '../support/wanting.js';

const ROOT = packageRoot();
const STAGES = readStages(join(ROOT, 'Dockerfile'));
const ABSOLUTE = /(?<= )\/(?=\w)/g;

/** Where a stage's root and working folder are here. */
interface Place {
  readonly root: string;
  work: string;
}

function copy({ words, from }: Step, place: Place, roots: ReadonlyMap<string, string>): void {
  const sources = words.slice(0, -1);
  const to = join(place.work, words.at(-1)!);
  for (const source of sources) {
    const path = join(from === null ? ROOT : roots.get(from)!, source);
    const target = words.at(-1)!.endsWith('/') ? join(to, basename(source)) : to;
    if (from === null) {
      cpSync(path, target, { recursive: true, filter: (each) => !each.includes('/scripts/style') });
    } else {
      // A stage that is done is not changed any more, so that links do for its thousands of files.
      mkdirSync(dirname(target), { recursive: true });
      execFileSync('cp', ['-alT', path, target]);
    }
  }
}

/** Does one stage's steps below `root`. @throws what a command of it said. */
function carryOut(stage: Stage, root: string, roots: ReadonlyMap<string, string>): Place {
  const place: Place = { root, work: root };
  for (const step of stage.steps) {
    switch (step.keyword) {
      case 'WORKDIR':
        place.work = join(root, step.text);
        mkdirSync(place.work, { recursive: true });
        break;
      case 'COPY':
        copy(step, place, roots);
        break;
      case 'RUN':
        execFileSync('sh', ['-c', step.text.replaceAll(ABSOLUTE, `${root}/`)], {
          cwd: place.work,
          stdio: ['ignore', 'pipe', 'pipe'],
          env: { ...process.env, npm_config_prefer_offline: 'true', npm_config_fetch_retries: '0' },
        });
        break;
    }
  }
  return place;
}

function carryOutAll(dir: string): Place {
  const roots = new Map<string, string>();
  let place: Place | undefined;
  for (const [index, stage] of STAGES.entries()) {
    const root = join(dir, `stage-${index}`);
    mkdirSync(root);
    roots.set(stage.name ?? String(index), root);
    place = carryOut(stage, root, roots);
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
  const dir = mkdtempSync(join(tmpdir(), 'situs-image-'));
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
