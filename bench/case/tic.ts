/** What a search for a product code costs; it runs in the front end. */
import { performance } from 'node:perf_hooks';
import { openDataset } from '../../src/dataset/open.js';
import {
  readTics,
  TIC_DOCUMENT,
  TIC_WORDS_DOCUMENT,
  TicSearch,
} from '../../src/engine/product/tic-search.js';
import { sink, type BenchInput, type Figure } from './case.js';

const TARGET_MICROSECONDS = 1000;
const QUERIES = [
  'baby formula',
  "men's running shoes",
  'ibuprofen',
  'laptop computer',
  'canned soup',
  'movie download',
  'refridgerator',
  'winter coat',
  'vitamins',
  'software subscription',
];

/** The median time of single searches for everyday descriptions. */
export async function ticCase(input: BenchInput): Promise<readonly Figure[]> {
  const dataset = openDataset(input.datasetDir);
  const search = new TicSearch(
    readTics(dataset.document(TIC_DOCUMENT), dataset.document(TIC_WORDS_DOCUMENT)),
  );
  dataset.close();
  const times: number[] = [];
  const until = performance.now() + input.seconds * 1000;
  while (performance.now() < until) {
    for (const query of QUERIES) {
      const from = performance.now();
      sink.value = search.find(query);
      times.push(performance.now() - from);
    }
  }
  times.sort((one, other) => one - other);
  const at = (share: number): number => (times[Math.floor(times.length * share)] ?? 0) * 1000;
  return [
    { name: 'tic search p50', value: at(0.5), unit: 'µs', target: { atMost: TARGET_MICROSECONDS } },
    { name: 'tic search p99', value: at(0.99), unit: 'µs' },
  ];
}
