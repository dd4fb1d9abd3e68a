import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { writeNation } from '../../bench/nation/nation.js';
import { readPoints, readRanges } from '../../src/ingest/source/address-source.js';
import { readSstBoundary } from '../../src/ingest/source/sst-boundary.js';

const FOLDER = mkdtempSync(join(tmpdir(), 'situs-nation-'));
after(() => rmSync(FOLDER, { recursive: true }));

async function count<T>(items: AsyncIterable<T>): Promise<number> {
  let total = 0;
  for await (const _ of items) total += 1;
  return total;
}

test('a synthetic nation has the sizes asked for, in files that the readers read', async () => {
  const folder = join(FOLDER, 'one');
  const files = writeNation(folder, { points: 5_000, ranges: 4_000, records: 3_000, seed: 1 });
  let [points, ranges, records] = [0, 0, 0];
  for (const source of files.points) points += await count(readPoints(folder, source));
  for (const source of files.ranges) ranges += await count(readRanges(folder, source));
  for (const { file } of files.sst) records += await count(readSstBoundary(join(folder, file)));
  assert.ok(Math.abs(points - 5_000) < 50, `${points} points`);
  assert.ok(Math.abs(ranges - 4_000) < 1_500, `${ranges} ranges`);
  assert.ok(records > 1_000 && records < 5_000, `${records} records`);
  assert.ok(files.points.length > 45 && files.ranges.length > 400 && files.sst.length > 20);
});

test('the same sizes and seed give the same files, another seed gives others', () => {
  const fileOf = (name: string, seed: number): Buffer => {
    const folder = join(FOLDER, name);
    const { points } = writeNation(folder, { points: 3_000, ranges: 0, records: 0, seed });
    return readFileSync(join(folder, points[4]!.file));
  };
  const first = fileOf('two', 1);
  assert.deepEqual(fileOf('three', 1), first);
  assert.notDeepEqual(fileOf('four', 2), first);
});
