/** What an engine tells of rates that are asked for and not held. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Engine } from '../../src/engine/engine.js';
import { NO_OPTIONS, type Unheld } from '../../src/engine/lookup-query.js';
import { isFailure } from '../../src/failure.js';
import { toMicrodegrees } from '../../src/geo/microdegrees.js';
import { AREA, memoryDataset, NOW_MS } from '../support/memory-dataset.js';

function point(lng: number): Parameters<Engine['lookup']>[0] {
  const at = { lat: toMicrodegrees(10.5), lng: toMicrodegrees(lng) };
  return { kind: 'point', ...at, latDegrees: 10.5, lngDegrees: lng, options: NO_OPTIONS };
}

test('each state is told of once, for what is refused since its rates are not held', () => {
  const told: Unheld[] = [];
  const engine = new Engine(memoryDataset(), (unheld) => told.push(unheld));
  assert.ok(!isFailure(engine.lookup(point(AREA.city + 0.5), NOW_MS)));
  assert.ok(isFailure(engine.lookup(point(170), NOW_MS)), 'nowhere');
  assert.deepEqual(told, []);
  for (let time = 0; time < 3; time += 1) {
    assert.ok(isFailure(engine.lookup(point(AREA.unknown + 0.5), NOW_MS)));
  }
  assert.deepEqual(
    told.map(({ state, past }) => [state, past]),
    [['QZ', false]],
  );
});
