/** What a service tells Prometheus of parts it does not have, and what alerts are about. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { FAILED_KEYS_MAX, FAILED_KEYS_WINDOW_MS } from '../../src/http/client-limit.js';
import { packageRoot } from '../../src/ingest/source-files.js';
import { eventually } from '../support/http-eventually.js';
import { metricsOf, startWatched } from '../support/watched-service.js';

/** Told where there is a fleet, a Redis, a PostgreSQL or a broker of files. */
const OF_OTHERS = [
  'situs_fleet_place_reached',
  'situs_fleet_dataset_followed',
  'situs_fleet_dataset_unprepared',
  'situs_limits_shared',
  'situs_limits_asked_total',
  'situs_store_age_seconds',
  'situs_files_broker_reached',
  'situs_files_chunks_open',
  'situs_files_chunks_total',
];
const OF_DATASET = ['situs_dataset_age_seconds', 'situs_dataset_info'];

/** A release whose sources are of today. */
const CURRENT = `${new Date().toISOString().slice(0, 10)}-000000000001`;

interface Sample {
  readonly name: string;
  readonly labels: ReadonlyMap<string, string>;
  readonly value: number;
}

function samplesIn(text: string): readonly Sample[] {
  return [...text.matchAll(/^([a-z]\w*)(?:\{(.*)\})? (\S+)$/gm)].map(
    ([, name = '', labels = '', value]) => ({
      name,
      labels: new Map(
        [...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, label = '', is = '']) => [label, is]),
      ),
      value: Number(value),
    }),
  );
}

/** `max by (a, b) (situs_name{label="x", other!="y"}) > 0.8 * 3`, the aggregation or not. */
const SIMPLE =
  /^(?:(?:min|max|sum) by \([\w, ]+\) )?\(?(situs_\w+)(?:\{([^}]*)\})?\)? (==|>) ([\d.* ]+)$/;

/** The samples of one server that make an expression true; null for one of another form. */
function firing(expr: string, samples: readonly Sample[]): readonly Sample[] | null {
  const [, name, matchers = '', operator, bound = ''] = SIMPLE.exec(expr) ?? [];
  if (name === undefined) return null;
  const limit = bound.split('*').reduce((product, factor) => product * Number(factor), 1);
  const asked = [...matchers.matchAll(/(\w+)(!?=)"([^"]*)"/g)];
  return samples.filter(
    (sample) =>
      sample.name === name &&
      asked.every(
        ([, label = '', is, value]) =>
          label === 'job' || (sample.labels.get(label) === value) === (is === '='),
      ) &&
      (operator === '==' ? sample.value === limit : sample.value > limit),
  );
}

interface Rule {
  readonly alert: string;
  readonly expr: string;
}

function alertRules(): readonly Rule[] {
  const text = readFileSync(join(packageRoot(), 'docs', 'monitoring', 'alerts.yml'), 'utf8');
  const { groups } = parse(text) as { groups: readonly { rules: readonly Rule[] }[] };
  return groups.flatMap(({ rules }) => rules);
}

test('nothing is told of what a service does not have', async (context) => {
  const ordinary = samplesIn(await metricsOf(await startWatched(context)));
  const names = new Set(ordinary.map(({ name }) => name));
  for (const name of OF_OTHERS) assert.ok(!names.has(name), name);
  for (const name of OF_DATASET) assert.ok(names.has(name), name);
  // What is zero is told all the same.
  const zero = ordinary.find(({ name }) => name === 'situs_dataset_refused');
  assert.equal(zero?.value, 0);
  const bare = samplesIn(await metricsOf(await startWatched(context, {}, undefined, null)));
  const told = new Set(bare.map(({ name }) => name));
  for (const name of [...OF_OTHERS, ...OF_DATASET]) assert.ok(!told.has(name), name);
});

test('no alert is raised by an ordinary server that has what it needs', async (context) => {
  const running = await startWatched(context, {}, undefined, CURRENT);
  await eventually(async () => (await fetch(`${running.base}/system/ready`)).status === 200);
  const samples = samplesIn(await metricsOf(running));
  const others: string[] = [];
  for (const { alert, expr } of alertRules()) {
    const fires = firing(expr, samples);
    if (fires === null) others.push(alert);
    else assert.deepEqual(fires, [], alert);
  }
  // These are of Prometheus itself, of changes over time, of how busy this process is, or of
  // several servers.
  assert.deepEqual(others, [
    'SitusGone',
    'SitusFaults',
    'SitusSlowLookups',
    'SitusWorkersEnd',
    'SitusEventLoopHeldUp',
    'SitusKeysGuessed',
    'SitusChunksRefused',
    'SitusDatasetsDiffer',
  ]);
  // The look itself finds what is true.
  const unready = [{ name: 'situs_unready', labels: new Map([['reason', 'store']]), value: 1 }];
  const rule = alertRules().find(({ alert }) => alert === 'SitusUnready');
  assert.equal(firing(rule?.expr ?? '', unready)?.length, 1);
});

test('one address that guesses keys raises the alert, whatever it is refused beyond its limit', () => {
  const rule = alertRules().find(({ alert }) => alert === 'SitusKeysGuessed');
  const [, bound] =
    /^sum\(rate\(situs_refusals_total\{code="101"\}\[5m\]\)\) > ([\d.]+)$/.exec(rule?.expr ?? '') ??
    [];
  const mostOfOne = FAILED_KEYS_MAX / (FAILED_KEYS_WINDOW_MS / 1_000);
  assert.ok(Number(bound) < mostOfOne, `${bound} a second, where one has ${mostOfOne}`);
  // Not by a client that tries with a key that was disabled every few seconds.
  assert.ok(Number(bound) >= 1);
});
