/**
 * Measures how many of the publishers' own addresses are found again, and in the right tax area:
 * each address as published, in every writing style, and with one typo in its street's name. Also
 * measures how often the postal city is the taxing city, and how well the shares of ZIPs are
 * estimated: see accuracy-cities.ts and accuracy-shares.ts.
 *
 *   npm run accuracy [-- --part doors|cities|shares] [--sources DIR] [--dataset DIR] [--recipe
 *   FILE]
 *     [--sample N]
 *
 * Unless --sources names a folder, the sources are those beside the repository (../shared/data).
 *
 * Exits with 1 when a target is missed.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { parseHouseNumber } from '../src/address/house-number.js';
import { foldStreetName, parseStreetName, type StreetName } from '../src/address/street-name.js';
import { partsOf, published, withOneTypo, writeAddress, WRITING_STYLES } from './writing-style.js';
import { loadConfig } from '../src/config.js';
import { sourcesDir } from './case/addresses.js';
import type { Dataset } from '../src/dataset/dataset.js';
import { readManifest } from '../src/dataset/manifest.js';
import { openDataset } from '../src/dataset/open.js';
import { currentRelease, releasesDir } from '../src/dataset/release.js';
import { DatasetGazetteer, foldLocality } from '../src/dataset/city-names.js';
import { withoutMunicipalEnding } from '../src/dataset/locality-list.js';
import { PlaceLocator } from '../src/engine/locate/place-locator.js';
import { RatesByArea } from '../src/engine/rate/on-day.js';
import { normalizedAddress } from '../src/engine/situs.js';
import { isFailure } from '../src/failure.js';
import { distanceMetres } from '../src/geo/microdegrees.js';
import type { AddressPoint } from '../src/ingest/source/points.js';
import { askCities } from './accuracy-cities.js';
import { measureShares, reportShares } from './accuracy-shares.js';
import { readRecipe } from '../src/ingest/recipe.js';
import { readPoints, type PointSource } from '../src/ingest/source/address-source.js';
import { areaAshore } from '../src/ingest/street/situate.js';
import { parseDate, DATE_OPEN } from '../src/tax/date.js';

/** The least share that must be found, and the largest that may be in a wrong tax area. */
const TARGETS = { published: 0.997, style: 0.99, typo: 0.97, wrong: 0.0002 } as const;
const WRONG_LISTED_MAX = 10;

/** An address of a source, with all its points. */
interface Address {
  readonly point: AddressPoint;
  readonly street: StreetName;
  readonly number: string;
  readonly lats: number[];
  readonly lngs: number[];
}

/** A way of writing an address; `write` returns "" where that is impossible. */
interface Manner {
  readonly name: string;
  readonly target: number;
  readonly write: (address: Address, index: number) => string;
}

interface Tally {
  readonly name: string;
  readonly target: number;
  asked: number;
  found: number;
  weaker: number;
  wrong: number;
  readonly metres: number[];
  readonly refusals: Map<string, number>;
  readonly examples: string[];
}

/** Reads the usable addresses of a source; points of the same address become one. */
async function readAddresses(
  dataset: Dataset,
  points: AsyncIterable<AddressPoint>,
  sample: number,
): Promise<readonly Address[]> {
  const gazetteer = new DatasetGazetteer(dataset);
  const byKey = new Map<string, Address>();
  for await (const point of points) {
    const number = parseHouseNumber(point.number);
    if (number === null) continue;
    const street = parseStreetName(point.street, gazetteer);
    const { preDirection, name, suffix, postDirection } = street;
    const key = [
      number.number,
      preDirection,
      foldStreetName(name),
      suffix,
      postDirection,
      point.city,
      point.municipality,
      point.zip,
    ].join('|');
    const known = byKey.get(key);
    if (known !== undefined) {
      known.lats.push(point.lat);
      known.lngs.push(point.lng);
    } else {
      const { lat, lng } = point;
      byKey.set(key, { point, street, number: number.number, lats: [lat], lngs: [lng] });
    }
  }
  const all = [...byKey.values()];
  const step = sample > 0 ? Math.max(1, Math.floor(all.length / sample)) : 1;
  return all.filter((_, index) => index % step === 0);
}

function manners(dataset: Dataset): readonly Manner[] {
  const styles = WRITING_STYLES.map(
    (style): Manner => ({
      name: style,
      target: TARGETS.style,
      write: (address) => writeAddress(partsOf(dataset, address, address.street), style),
    }),
  );
  const typo: Manner = {
    name: 'one typo',
    target: TARGETS.typo,
    write: (address, index) => {
      const street = withOneTypo(address.street, index);
      if (street.name === address.street.name) return '';
      return writeAddress(partsOf(dataset, address, street), 'standard');
    },
  };
  return [
    { name: 'as published', target: TARGETS.published, write: ({ point }) => published(point) },
    ...styles,
    typo,
  ];
}

/** Whether a tax area is right for one of an address's points. */
function isRight(dataset: Dataset, address: Address, area: number): boolean {
  const { point, lats, lngs } = address;
  for (let index = 0; index < lats.length; index += 1) {
    const own = areaAshore(lats[index]!, lngs[index]!, (lat, lng) =>
      dataset.cells.locate(lat, lng),
    );
    if (own === area) return true;
  }
  if (point.municipality === '') return false;
  // The municipality that numbers the doors knows its border better than the map does.
  const fold = foldLocality(point.municipality);
  const place = foldLocality(dataset.area(area).placeName);
  return place !== '' && (place === fold || place === withoutMunicipalEnding(fold));
}

function nearestMetres(address: Address, lat: number, lng: number): number {
  let least = Infinity;
  for (let index = 0; index < address.lats.length; index += 1) {
    const metres = distanceMetres(address.lats[index]!, address.lngs[index]!, lat, lng);
    least = Math.min(least, metres);
  }
  return least;
}

function count(into: Map<string, number>, key: string): void {
  into.set(key, (into.get(key) ?? 0) + 1);
}

/** Looks up every address, written in one manner. */
function measure(dataset: Dataset, addresses: readonly Address[], manner: Manner): Tally {
  const today = parseDate(new Date().toISOString().slice(0, 10)) ?? DATE_OPEN;
  const locator = new PlaceLocator(dataset, new RatesByArea(dataset)).addresses;
  const tally: Tally = {
    name: manner.name,
    target: manner.target,
    asked: 0,
    found: 0,
    weaker: 0,
    wrong: 0,
    metres: [],
    refusals: new Map(),
    examples: [],
  };
  addresses.forEach((address, index) => {
    const text = manner.write(address, index);
    if (text === '') return;
    tally.asked += 1;
    const situs = locator.locate(text, () => today);
    if (isFailure(situs)) {
      count(tally.refusals, (situs.detail ?? situs.failure).replace(/\d{5}/, 'NNNNN'));
      return;
    }
    if (situs.precision === 'point' || situs.precision === 'range') {
      tally.found += 1;
      if (situs.lat !== 0) tally.metres.push(nearestMetres(address, situs.lat, situs.lng));
    } else tally.weaker += 1;
    if (!isRight(dataset, address, situs.area)) {
      tally.wrong += 1;
      const note = `${text.trim()} → ${situs.precision}: ${normalizedAddress(situs)}`;
      if (tally.examples.length < WRONG_LISTED_MAX) tally.examples.push(note);
    }
  });
  tally.metres.sort((a, b) => a - b);
  return tally;
}

function percent(part: number, whole: number): string {
  return `${((100 * part) / Math.max(1, whole)).toFixed(3)} %`.padStart(10);
}

function metresAt(tally: Tally, share: number): string {
  const value = tally.metres[Math.floor((tally.metres.length - 1) * share)] ?? 0;
  return `${value.toFixed(value < 10 ? 1 : 0)} m`.padStart(8);
}

/** Prints a tally, and returns whether its targets are met. */
function report(tally: Tally): boolean {
  const { asked, found, weaker, wrong } = tally;
  const met = found >= asked * tally.target && wrong <= asked * TARGETS.wrong;
  console.log(
    `  ${tally.name.padEnd(13)}${String(asked).padStart(8)}${percent(found, asked)}` +
      `${percent(weaker, asked)}${percent(wrong, asked)}${metresAt(tally, 0.5)}` +
      `${metresAt(tally, 0.99)}${met ? '' : '   missed'}`,
  );
  for (const [reason, times] of [...tally.refusals].sort((a, b) => b[1] - a[1])) {
    console.log(`      refused ${String(times).padStart(6)}  ${reason}`);
  }
  for (const example of tally.examples) console.log(`      wrong  ${example}`);
  return met;
}

function pointSources(file: string): readonly PointSource[] {
  const recipe = JSON.parse(readFileSync(file, 'utf8')) as { points?: readonly PointSource[] };
  return recipe.points ?? [];
}

interface Asked {
  readonly folder: string | null;
  readonly recipe: string;
  readonly sample: number;
}

/** Looks up the doors of the publishers' files. */
async function doors(dataset: Dataset, { folder, recipe, sample }: Asked): Promise<boolean> {
  if (folder === null) throw new Error("no publishers' files: name their folder with --sources");
  console.log('  manner            asked     found    weaker     wrong  median     p99');
  let met = true;
  for (const source of pointSources(recipe)) {
    const points = readPoints(folder, source);
    const addresses = await readAddresses(dataset, points, sample);
    console.log(`${source.source}: ${addresses.length} addresses`);
    for (const manner of manners(dataset)) {
      process.stderr.write(`${source.source}: ${manner.name}\n`);
      met = report(measure(dataset, addresses, manner)) && met;
    }
  }
  return met;
}

/** Compares estimated shares of ZIPs with doors, for sources that have all doors of a state. */
async function shares(dataset: Dataset, { folder, recipe }: Asked): Promise<void> {
  const { counted = [] } = readRecipe('reference').recipe.zips;
  for (const source of folder === null ? [] : pointSources(recipe)) {
    if (!counted.includes(source.state)) continue;
    reportShares(source.source, await measureShares(dataset, readPoints(folder!, source)));
  }
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      part: { type: 'string', default: 'all' },
      sources: { type: 'string' },
      dataset: { type: 'string' },
      recipe: { type: 'string', default: 'datasets/recipes/reference.json' },
      sample: { type: 'string', default: '0' },
    },
  });
  const { part, recipe, sample } = values;
  const varDir = loadConfig().varDir;
  const dir = values.dataset ?? join(releasesDir(varDir), currentRelease(varDir) ?? '');
  const dataset = openDataset(dir);
  console.log(`dataset ${dataset.id}`);
  const folder = values.sources ?? sourcesDir();
  const asked = { folder, recipe, sample: Number(sample) };
  const isFound = (part !== 'all' && part !== 'doors') || (await doors(dataset, asked));
  const isTrue =
    (part !== 'all' && part !== 'cities') || askCities(dataset, readManifest(dir).recipe, folder);
  if (part === 'all' || part === 'shares') await shares(dataset, asked);
  dataset.close();
  return isFound && isTrue ? 0 : 1;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) process.exitCode = await main();
