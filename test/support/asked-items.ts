/** Random lookups and carts of the invented country, seeded: what is there, and what is not. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { seeded } from '../../bench/case/case.js';
import { packageRoot } from '../../src/ingest/source-files.js';
import { oneOf, type Random } from './bulk-bodies.js';
import { sentCart, sentLine, type Sent } from './sent-carts.js';

/** Parameters of version 60. */
export type Lookup = Readonly<Record<string, string>>;

interface Door {
  readonly line1: string;
  readonly city: string;
  readonly state: string;
  readonly zip: string;
}

const POINTS = join(packageRoot(), 'datasets', 'fixture', 'points.csv');
const ZIPS = ['91010', '91011', '91012', '91020', '92010', '92020', '92030', '93010', '94010'];
const BAD_ZIPS = ['99999', 'x', '9101', '91010-', ''];
const DAYS = ['2026-02', '202601', '2024-13', '1999-01'];
const TICS = ['20010', '00000', '41000', '10', 'x'];

function doors(): readonly Door[] {
  return readFileSync(POINTS, 'utf8').trim().split('\n').slice(1).map((line) => {
    const [, , number = '', street = '', , city = '', , state = '', zip = ''] = line.split(',');
    return { line1: `${number} ${street}`, city, state, zip };
  });
}

const DOORS = doors();

function oneLine({ line1, city, state, zip }: Door): string {
  return `${line1}, ${city}, ${state} ${zip}`;
}

/** As people write: another case, a letter less, no door, no ZIP. */
function written(random: Random, door: Door): string {
  const chance = random();
  if (chance < 0.6) return oneLine(door);
  if (chance < 0.7) return oneLine(door).toLowerCase();
  if (chance < 0.8) return oneLine({ ...door, line1: door.line1.replace(/(\w)\w?$/, '$1') });
  if (chance < 0.9) return oneLine({ ...door, line1: `99999 ${door.line1}` });
  return oneLine({ ...door, zip: '', city: 'Nowhere' });
}

function randomLookup(random: Random): Lookup {
  const kind = random();
  const more: Lookup = {
    ...(random() < 0.1 ? { historical: oneOf(random, DAYS) } : {}),
    ...(random() < 0.1 ? { taxabilityCode: oneOf(random, TICS) } : {}),
    ...(random() < 0.05 ? { addressDetailExtended: 'true' } : {}),
    ...(random() < 0.05 ? { adjustment: oneOf(random, ['auto', 'x']) } : {}),
  };
  if (kind < 0.6) return { address: written(random, oneOf(random, DOORS)), ...more };
  if (kind < 0.75) return { postalcode: oneOf(random, random() < 0.8 ? ZIPS : BAD_ZIPS), ...more };
  if (kind < 0.95) {
    return { lat: (10 + random()).toFixed(5), lng: (-30 + 1.2 * random()).toFixed(5), ...more };
  }
  return more;
}

/** Lookups that may be asked alone, as rows and as messages. */
export function randomLookups(count: number, seed: number): readonly Lookup[] {
  const random = seeded(seed);
  return Array.from({ length: count }, () => randomLookup(random));
}

function randomLine(random: Random, index: number): Sent {
  return sentLine({
    index, itemId: `sku-${index}`, price: Math.floor(random() * 1e6) / 10 ** Math.floor(2 + 3 * random()),
    quantity: oneOf(random, [1, 2, 1.5, 0.3333, 12]),
    ...(random() < 0.3 ? { tic: oneOf(random, [0, 20_010, 41_000, 10_001, 99_999]) } : {}),
  });
}

/** A merchant's cart with an id of its own. */
export function merchantCart(random: Random, cartId: string, lines = 1 + Math.floor(4 * random())): Sent {
  const place = (): object => ({
    ...oneOf(random, DOORS), ...(random() < 0.05 ? { zip: '99999', city: 'Nowhere' } : {}),
  });
  return sentCart({
    cartId, origin: place(), destination: place(),
    lineItems: Array.from({ length: lines }, (_, index) => randomLine(random, index)),
  });
}

/** A cart of no merchant; the service makes up its id. */
export function plainCart(random: Random): Sent {
  const { lineItems, customerId } = merchantCart(random, '');
  const place = (): object => ({ address: written(random, oneOf(random, DOORS)) });
  return {
    customerId, currency: { currencyCode: 'USD' }, origin: place(), destination: place(),
    lineItems: (lineItems as readonly Sent[]).map(({ tic, index: _index, ...line }) => ({
      ...line, ...(tic === undefined ? {} : { taxabilityCode: tic }),
    })),
  };
}
