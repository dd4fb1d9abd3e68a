/** Places whose rates an authority publishes, asked as addresses. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Dataset } from '../../src/dataset/dataset.js';
import { packageRoot } from '../../src/ingest/source-files.js';
import { askAddress } from './ask-dataset.js';

interface Golden {
  readonly location: string;
  /** Day of the figures, YYYYMMDD. */
  readonly on: number;
  readonly total?: string;
  readonly jurisdictions?: readonly {
    readonly level: string;
    readonly name: string;
    readonly code: string | null;
    readonly rate: string;
  }[];
  /** Why no rate is known, by parts of the message. */
  readonly refused?: readonly string[];
}

interface GoldenAddress {
  readonly address: string;
  readonly golden: Golden;
}

/** Locations that are written as an address could be, one line for each. */
function addressOf(location: string): string | null {
  if (!/^[^()]+, [A-Z]{2} \d{5}$/.test(location)) return null;
  return /^\d/.test(location) ? location : `1 Main St, ${location}`;
}

/** Every place with an address, by state. */
export function goldenAddresses(): readonly GoldenAddress[] {
  const folder = join(packageRoot(), 'test/golden/places');
  return readdirSync(folder)
    .sort()
    .flatMap((file) => JSON.parse(readFileSync(join(folder, file), 'utf8')) as readonly Golden[])
    .flatMap((golden) => {
      const address = addressOf(golden.location);
      return address === null ? [] : [{ address, golden }];
    });
}

/**
 * The dataset says of the address what the authority does, or refuses it where it must; `names`:
 * its recipe has the estimated layer that goldens name.
 */
export function assertGolden(
  dataset: Dataset,
  { address, golden }: GoldenAddress,
  names: boolean,
): void {
  const { on } = golden;
  const noon = Date.UTC(Math.floor(on / 10_000), (Math.floor(on / 100) % 100) - 1, on % 100, 18);
  const asked = askAddress(dataset, address, '', noon);
  if (golden.refused !== undefined) {
    // 109 where the ZIP holds other tax areas too: no answer either, and no guess.
    assert.ok(asked.code === 110 || asked.code === 109, asked.text);
    if (asked.code === 110) {
      const reasons = golden.refused.map((reason) =>
        names ? reason : reason.replace(' or the estimated layer would fill', ' would fill'),
      );
      assert.ok(
        reasons.some((reason) => asked.message.includes(reason)),
        asked.message,
      );
    }
    return;
  }
  assert.equal(asked.code, 100, asked.message);
  assert.equal(asked.total, Number(golden.total));
  assert.deepEqual(
    asked.rows.map(({ jurName, jurTaxCode, rate }) => [jurName, jurTaxCode, rate]),
    golden.jurisdictions?.map(({ name, code, rate }) => [name, code, Number(rate)]),
  );
}

/** No ZIP is needed where all of a city lies in one county. */
export const ONE_COUNTY: readonly (readonly [city: string, total: number])[] = [
  ['Denver, CO', 0.0915],
  ['St. Paul, MN', 0.09875],
  ['Minneapolis, MN', 0.09025],
  ['Mount Vernon, NY', 0.08375],
  ['Mount Vernon, NY 10550', 0.08375],
];

export function assertOneCounty(dataset: Dataset, city: string, total: number): void {
  const asked = askAddress(dataset, `1 Main St, ${city}`);
  assert.deepEqual([asked.code, asked.total], [100, total], asked.message);
}
