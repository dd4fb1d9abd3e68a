/** What is remembered of places keeps nothing of the files that they came in. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { NO_OPTIONS } from '../../src/engine/lookup-query.js';
import { openRecipe } from '../support/ask-dataset.js';
import { engineOf } from '../support/engine-of.js';

const CHUNKS = 200;
const CHUNK_BYTES = 400_000;
const HEAP_BYTES_ABOVE = 20_000_000;
/** One that is known, one that is not, and none. */
const ZIPS = ['91010', '99999', ''] as const;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** A word in capitals, as a file may have it: no change of case makes a text of its own of it. */
function word(at: number): string {
  const letters = createHash('sha256').update(String(at)).digest();
  return String.fromCharCode(...[...letters.subarray(0, 20)].map((byte) => 0x41 + (byte % 26)));
}

test('addresses of files leave their places in memory, not the files', () => {
  const engine = engineOf(openRecipe('fixture').dataset);
  const outcomeOf = (at: number): string => {
    const row = `100 NOSUCH STREET, ${word(at)}, QA ${ZIPS[at % 3]}\n`;
    const chunk = Buffer.from(row + 'Z'.repeat(CHUNK_BYTES)).toString('utf8');
    const address = chunk.slice(0, row.length - 1);
    return JSON.stringify(
      engine.lookup({ kind: 'address', address, options: NO_OPTIONS }, Date.UTC(2026, 10, 21)),
    );
  };
  collect();
  const before = process.memoryUsage().heapUsed;
  const outcomes = new Set<string>();
  for (let at = 0; at < CHUNKS; at += 1) outcomes.add(outcomeOf(at));
  collect();
  const grown = process.memoryUsage().heapUsed - before;
  assert.ok(grown < HEAP_BYTES_ABOVE, `the heap grew by ${grown} bytes`);
  // What was remembered is still there, and the same.
  for (let at = 0; at < CHUNKS; at += 1) assert.ok(outcomes.has(outcomeOf(at)));
});
