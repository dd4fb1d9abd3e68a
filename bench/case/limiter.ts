/** What a lookup costs before and after the pool: key, rate window, usage count. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { Bench } from 'tinybench';
import { presentedKey } from '../../src/http/api-key.js';
import { mayGeocode } from '../../src/api/lookup/handler.js';
import { createRateGate, REFUSED } from '../../src/http/rate-limit.js';
import { KeyCache } from '../../src/store/watched.js';
import { createKey, randomKey, type KeySettings } from '../../src/store/keys.js';
import { Store } from '../../src/store/store.js';
import { UsageBook } from '../../src/store/usage.js';
import { sink, type BenchInput, type Figure } from './case.js';

const KEYS = 100;
/** How many requests one measured run has. */
const TURN = 1_000;
const TARGET_MICROSECONDS = 1;
/** The default rate of an enterprise key. */
const RATE = 10_000;
const QUERY = 'address=200+Spectrum+Center+Dr,+Irvine,+CA+92618';
const LIMIT = 999_999_999_999;

/** Milliseconds between two requests, so that each key's window is always three quarters full. */
const STEP_MS = 60_000 / (KEYS * RATE * 0.75);

interface Kind {
  readonly name: string;
  readonly settings: KeySettings;
  readonly note: string;
}

const KINDS: readonly Kind[] = [
  { name: 'limiter', settings: { rate: RATE }, note: 'exact window, unmetered key' },
  {
    name: 'limiter with quotas',
    settings: { rate: RATE, coreLimit: LIMIT, geoLimit: LIMIT },
    note: 'exact window, limits on lookups and geocoding',
  },
  { name: 'limiter by buckets', settings: { rate: 100_000_000 }, note: 'a rate above 100,000' },
];

/** The texts of the keys as the server passes them: a new string object each time. */
function freshTexts(texts: readonly string[]): readonly string[] {
  return Array.from({ length: TURN }, (_, index) =>
    Buffer.from(texts[index % texts.length]!, 'latin1').toString('latin1'),
  );
}

async function measure(
  store: Store,
  { name, settings, note }: Kind,
  input: BenchInput,
): Promise<Figure> {
  const texts = Array.from({ length: KEYS }, () => randomKey());
  for (const text of texts) await createKey(store, { text, plan: 'enterprise', ...settings });
  const keys = new KeyCache(store);
  const usage = new UsageBook(store);
  let at = 0;
  // The real clock is read too, since that is part of the cost.
  const gate = createRateGate(() => (at += STEP_MS) + Math.min(0, performance.now()));
  let header = '';
  const request = { query: QUERY, header: () => header };
  let presented = freshTexts(texts);
  const turn = (): void => {
    for (let index = 0; index < TURN; index += 1) {
      header = presented[index]!;
      const { key: text, query } = presentedKey(request);
      const key = keys.find(text);
      if (key === null || gate.take(key) === REFUSED) throw new Error('a request was refused');
      const admission = usage.admit(key, mayGeocode(key, query));
      if (admission === null) throw new Error('a quota was used up');
      usage.settle(admission, true, true);
      sink.value = admission;
    }
  };
  const bench = new Bench({ time: input.seconds * 1000, warmupTime: 500 });
  bench.add(name, turn, {
    async: false,
    beforeEach: () => {
      presented = freshTexts(texts);
    },
  });
  await bench.run();
  await usage.close();
  const { result } = bench.tasks[0]!;
  if (result.state !== 'completed') throw new Error(`${name} did not finish`);
  const value = (result.latency.p50 * 1000) / TURN;
  return { name, value, unit: 'µs', target: { atMost: TARGET_MICROSECONDS }, note };
}

/** Microseconds a request for checking the key, the rate window and the usage count together. */
export async function limiterCase(input: BenchInput): Promise<readonly Figure[]> {
  const varDir = mkdtempSync(join(tmpdir(), 'situs-limiter-'));
  const figures: Figure[] = [];
  try {
    const store = await Store.open(varDir);
    for (const kind of KINDS) figures.push(await measure(store, kind, input));
    await store.close();
  } finally {
    rmSync(varDir, { recursive: true, force: true });
  }
  return figures;
}
