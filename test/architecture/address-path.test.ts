/** The way of an address, as docs/architecture.md tells it, held against the code. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { dirname, join, normalize } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { importsOf, packageRoot } from '../support/http-source-rules.js';
import { ask } from '../lookup/ask.js';

const ROOT = packageRoot(dirname(fileURLToPath(import.meta.url)));
/** Files of a worker that an address is handed on through, and files that are at work on it. */
const FILES_MAX = 14;
const AT_WORK_MAX = 18;

const TEXT = readFileSync(join(ROOT, 'docs', 'architecture.md'), 'utf8');
const SECTION = /## An address, from socket to bytes\n([\s\S]*?)\n## /.exec(TEXT)?.[1] ?? '';

function pathOf(name: string): string {
  return /^(?:workers|scripts)\//.test(name) ? name : `src/${name}`;
}

/** The numbered files, in order. */
const STEPS = [...SECTION.matchAll(/^\d+\. `([^`]+\.ts)`/gm)].map(([, name = '']) => pathOf(name));

function importedBy(path: string): readonly string[] {
  return importsOf(readFileSync(join(ROOT, path), 'utf8'))
    .filter((from) => from.startsWith('.'))
    .map((from) => normalize(join(dirname(path), from)).replace(/\.js$/, '.ts'));
}

test('an address goes through at most fourteen files, each imported by one before it', () => {
  assert.ok(STEPS.length > 5 && STEPS.length <= FILES_MAX, `${STEPS.length} files`);
  const reached = new Set(STEPS.slice(0, 1));
  for (const path of STEPS) {
    assert.ok(reached.has(path), `${path} is imported by none before it`);
    for (const next of importedBy(path)) reached.add(next);
  }
});

/** Source files in which a function was called while `run` ran. */
async function filesAtWork(run: () => void): Promise<readonly string[]> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  run();
  const { result } = await session.post('Profiler.takePreciseCoverage');
  session.disconnect();
  return result.flatMap(({ url, functions }) => {
    const path = /\/(src\/.*)\.js$/.exec(url)?.[1];
    const called = functions.some(
      ({ functionName, ranges: [whole] }) => functionName !== '' && (whole?.count ?? 0) > 0,
    );
    return path !== undefined && called ? [`${path}.ts`] : [];
  });
}

test('the section names every file that is at work on an address', async () => {
  const named = new Set(
    [...SECTION.matchAll(/`([^`]+\.ts)`/g)].map(([, name = '']) => pathOf(name)),
  );
  for (const path of named) assert.ok(existsSync(join(ROOT, path)), path);
  const address = 'address=200+Spindle+Center+Dr%2C+Brookmere%2C+QZ+97001';
  // The engine is made with the first request; this is about those that follow.
  assert.equal(ask(60, 'address=7+Levee+Ln%2C+Fenway%2C+QZ+97002').code, 100);
  let text = '';
  const files = await filesAtWork(() => {
    text = ask(60, address).text;
  });
  assert.match(text, /"normalizedAddress":"200 Spindle Center Dr/);
  assert.ok(files.length > 15, 'nothing was recorded');
  assert.ok(files.length <= AT_WORK_MAX, `${files.length} files are at work`);
  assert.deepEqual(
    files.filter((path) => !named.has(path)),
    [],
  );
});
