/** `situs dataset diff` on two releases that the real writer made. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type ReleaseContent, writeRelease } from '../../src/ingest/release-writer.js';
import type { DateInt } from '../../src/tax/date.js';
import { CLI, situs } from '../support/built-dataset.js';
import { tinyContent } from '../support/tiny-release.js';

const varDir = mkdtempSync(join(tmpdir(), 'situs-diff-'));
let older = '';
let newer = '';
let gap = '';

after(() => rmSync(varDir, { recursive: true, force: true }));

/** One area of the tiny release, unknown from 2026 on; and a ZIP that it had. */
function withGap(content: ReleaseContent): ReleaseContent {
  return {
    ...content,
    zips: [],
    areas: content.areas.map((area) => ({
      ...area,
      unknown: [
        {
          level: 'city',
          from: 20260101 as DateInt,
          to: 99991231 as DateInt,
          reason: 'not held',
        },
      ],
    })),
  };
}

before(async () => {
  older = await writeRelease(varDir, tinyContent(40), () => undefined);
  newer = await writeRelease(varDir, tinyContent(45), () => undefined);
  gap = await writeRelease(varDir, withGap(tinyContent(40)), () => undefined);
});

function diff(...args: readonly string[]): string {
  return situs(varDir, ['dataset', 'diff', ...args]);
}

test('a changed rate shows in jurisdictions, areas and ZIPs', () => {
  assert.equal(
    diff(older, newer, '--date', '2026-02-01'),
    `${older} -> ${newer} on 2026-02-01
jurisdictions that differ: 1
  QA state QA (91): 0.04 -> 0.045
tax areas that differ: 1
  QA: 0.04 -> 0.045
ZIPs that differ: 1
  91010: 0.04 -> 0.045
`,
  );
});

test('as JSON, with what is refused and what is absent', () => {
  const found = JSON.parse(diff(older, gap, '--date', '2026-02-01', '--json')) as unknown;
  assert.deepEqual(found, {
    before: older,
    after: gap,
    date: '2026-02-01',
    jurisdictions: [],
    areas: [{ name: 'QA', before: ['0.04'], after: ['unknown'] }],
    zips: [{ name: '91010', before: ['0.04'], after: [] }],
  });
});

test('a day before the change, and a release and itself, do not differ', () => {
  assert.match(diff(older, newer, '--date', '2019-12-31'), /tax areas that differ: 0/);
  assert.match(diff(older, older), /tax areas that differ: 0\nZIPs that differ: 0\n$/);
});

test('bad usage exits with 2, a release that is not there with 1', () => {
  const code = (...args: readonly string[]): number | null =>
    spawnSync(process.execPath, [CLI, 'dataset', 'diff', ...args], {
      env: { ...process.env, SITUS_VAR: varDir },
    }).status;
  assert.equal(code(older), 2);
  assert.equal(code(older, newer, gap), 2);
  assert.equal(code(older, newer, '--date', '2026-02-30'), 2);
  assert.equal(code(older, 'nothing-like-it'), 1);
});
