/** Spots of a row are inside a polygon exactly where each of them is by itself. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seeded } from '../../bench/case/case.js';
import { BandedPolygon, polygonOf, rowInside } from '../../src/geo/polygon.js';

const SIZE = 1_000;

test('a row of spots is inside where each spot is', () => {
  const next = seeded(11);
  const whole = (): number => Math.floor(next() * SIZE);
  let [inside, outside] = [0, 0];
  for (let turn = 0; turn < 300; turn += 1) {
    const corners = Array.from({ length: 3 + Math.floor(next() * 60) }, () => [whole(), whole()]);
    const ring = Int32Array.from([...corners, corners[0]!].flat());
    const polygon = polygonOf('p', ring, Int32Array.of(0, ring.length / 2));
    const banded = new BandedPolygon(polygon);
    const xs = Array.from({ length: 8 }, () => whole() - 100);
    // Rows through corners too: there a border decides.
    const y = turn % 2 === 0 ? corners[0]![1]! : whole() - 50;
    const found = new Uint8Array(xs.length);
    banded.containsRow(xs, y, found);
    const plain = new Uint8Array(xs.length);
    rowInside(polygon, xs, y, plain);
    assert.deepEqual(plain, found);
    xs.forEach((x, spot) => {
      assert.equal(found[spot] === 1, banded.contains(x, y), `${turn}: ${x}, ${y}`);
      if (found[spot] === 1) inside += 1;
      else outside += 1;
    });
  }
  assert.ok(inside > 200 && outside > 200, `${inside} inside, ${outside} outside`);
});
