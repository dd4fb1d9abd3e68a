/**
 * Every command of docs/bulk.md and docs/stream.md, run against a server, prints what it prints
 * there. To write the output again after a change: SITUS_GOLDEN=write npm test.
 */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { packageRoot } from '../../src/ingest/source-files.js';
import { buildRecipe, CLI, type Built } from '../support/built-dataset.js';
import { type ChildService, startChild } from '../support/server-process.js';
import { KEYS } from '../support/bulk-client.js';
import { pageCommands, runPage, withOutputs, withoutVolatile } from '../support/page-commands.js';

const REWRITE = process.env['SITUS_GOLDEN'] === 'write';
/** Commands that a page must have at least, so that none is lost to a change of its form. */
const COMMANDS_MIN = { 'bulk.md': 20, 'stream.md': 4 } as const;

let built: Built;
let dir: string;
let service: ChildService;

before(async () => {
  built = buildRecipe('fixture');
  dir = mkdtempSync(join(tmpdir(), 'situs-page-'));
  const folder = join(dir, 'bulk-dir', 'default', 'orders');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'may.csv'), 'Order,address\n7,"120 Main St, Elmton, QA 91010"\n');
  service = await startChild(built.varDir, {
    SITUS_BULK_DIR: join(dir, 'bulk-dir'),
    // As that of the address the pages name, so that links and lengths are what a reader sees.
    SITUS_BASE_URL: 'http://127.0.0.1:3000',
  });
});

after(async () => {
  await service.stop();
  built.remove();
  rmSync(dir, { recursive: true, force: true });
});

for (const [name, least] of Object.entries(COMMANDS_MIN)) {
  test(`the commands of docs/${name} print what it says`, async () => {
    const path = join(packageRoot(), 'docs', name);
    const page = readFileSync(path, 'utf8');
    const commands = pageCommands(page);
    assert.ok(commands.length >= least, `${commands.length} commands`);
    const cwd = join(dir, name);
    mkdirSync(cwd);
    const printed = await runPage(commands, {
      cwd,
      before: `npx() { shift; '${process.execPath}' '${CLI}' "$@"; }`,
      env: {
        PATH: process.env['PATH'] ?? '',
        LC_ALL: 'C.UTF-8',
        SITUS_VAR: built.varDir,
        SITUS: `http://127.0.0.1:${service.port}`,
        KEY: KEYS.bulk,
      },
    });
    const outputs = printed.map(withoutVolatile);
    if (REWRITE) {
      writeFileSync(path, withOutputs(page, outputs));
      return;
    }
    for (const [index, { command, output }] of commands.entries()) {
      assert.equal(outputs[index], output, command);
    }
    assert.equal(outputs.length, commands.length);
  });
}

test('no other command of these pages is left unrun', () => {
  for (const name of Object.keys(COMMANDS_MIN)) {
    const page = readFileSync(join(packageRoot(), 'docs', name), 'utf8');
    const kinds = [...page.matchAll(/^```(\w+)\n/gm)].map(([, kind]) => kind);
    assert.deepEqual(
      kinds.filter((kind) => kind !== 'console' && kind !== 'js'),
      [],
      name,
    );
    const outside = page.replaceAll(/```[\s\S]*?```/g, '');
    assert.doesNotMatch(outside, /^\s*(?:\$ |curl |npx situs )/m, name);
  }
});
