/** What differs between two releases on a day: rates of jurisdictions, of tax areas and of ZIPs. */
import type { Dataset } from '../dataset/dataset.js';
import type { AreaRecord } from '../dataset/records.js';
import { type Failure, isFailure } from '../failure.js';
import type { DateInt } from '../tax/date.js';
import { formatRate, type Rate } from '../tax/rate.js';
import { periodOn, RatesByArea } from './rate/on-day.js';
import type { KnownRates } from './lookup-query.js';
import type { ListedDataset } from '../dataset/open.js';

/** Stands for rates that the release does not know. */
const UNKNOWN = 'unknown';

/**
 * One jurisdiction, area or ZIP of either release. `before` and `after` are its rates on the day,
 * usually one: the sales-tax rate as a decimal fraction, with the use-tax rate after a slash where
 * that differs, or UNKNOWN; empty where the release lacks it.
 */
export interface Change {
  readonly name: string;
  readonly before: readonly string[];
  readonly after: readonly string[];
}

export interface ReleaseDiff {
  /** "CA county ORANGE (30)" */
  readonly jurisdictions: readonly Change[];
  /** "CA, Orange County, Irvine" with its combined rates. */
  readonly areas: readonly Change[];
  /** Five digits, with the combined rates of the ZIP's parts. */
  readonly zips: readonly Change[];
}

const ZIP_DIGITS = 5;

class Sides {
  readonly rates = new Map<string, Set<string>>();

  add(name: string, rate: string): void {
    const known = this.rates.get(name);
    if (known === undefined) this.rates.set(name, new Set([rate]));
    else known.add(rate);
  }
}

interface Contents {
  readonly jurisdictions: Sides;
  readonly areas: Sides;
  readonly zips: Sides;
}

function shown(sales: Rate, use: Rate): string {
  const text = formatRate(sales);
  return use === sales ? text : `${text}/${formatRate(use)}`;
}

function districtsOf(dataset: Dataset, { components }: AreaRecord): readonly string[] {
  return components
    .map((id) => dataset.component(id))
    .filter(({ level }) => level === 'district')
    .map(({ jurName, jurCode }) => jurCode ?? jurName);
}

/** A name that is the same in every release with the area; numbers of areas are not. */
function areaName(dataset: Dataset, area: AreaRecord): string {
  const { state, countyFullName, placeName, placeGeoid } = area;
  const place = placeName === '' ? [] : [`${placeName} (${placeGeoid})`];
  const names = [state, ...(countyFullName === '' ? [] : [countyFullName]), ...place];
  const districts = districtsOf(dataset, area);
  return names.join(', ') + (districts.length === 0 ? '' : `, districts ${districts.join(' ')}`);
}

function combined(rates: KnownRates | Failure): string {
  return isFailure(rates) ? UNKNOWN : shown(rates.sales, rates.use);
}

function readContents(dataset: ListedDataset, date: DateInt): Contents {
  const contents: Contents = { jurisdictions: new Sides(), areas: new Sides(), zips: new Sides() };
  const ofArea = new Map<number, string>();
  const rates = new RatesByArea(dataset);
  for (const id of dataset.areaIds()) {
    const area = dataset.area(id);
    const rate = combined(rates.at(id, date));
    ofArea.set(id, rate);
    contents.areas.add(areaName(dataset, area), rate);
    for (const component of area.components) {
      const { level, jurName, jurCode, periods } = dataset.component(component);
      const period = periodOn(periods, date);
      if (period === null) continue;
      const code = jurCode === null ? '' : ` (${jurCode})`;
      const name = `${area.state} ${level} ${jurName}${code}`;
      contents.jurisdictions.add(name, shown(period.sales, period.use));
    }
  }
  for (const zip of dataset.zipNumbers()) {
    const name = String(zip).padStart(ZIP_DIGITS, '0');
    for (const { area } of dataset.zip(zip)?.parts ?? []) {
      contents.zips.add(name, ofArea.get(area) ?? UNKNOWN);
    }
  }
  return contents;
}

function changes({ rates: before }: Sides, { rates: after }: Sides): readonly Change[] {
  const names = [...new Set([...before.keys(), ...after.keys()])].sort();
  return names.flatMap((name): Change[] => {
    const change = {
      name,
      before: [...(before.get(name) ?? [])].sort(),
      after: [...(after.get(name) ?? [])].sort(),
    };
    return change.before.join(' ') === change.after.join(' ') ? [] : [change];
  });
}

/** Compares two releases on a day; each list is in the order of names. */
export function diffReleases(
  before: ListedDataset,
  after: ListedDataset,
  date: DateInt,
): ReleaseDiff {
  const one = readContents(before, date);
  const other = readContents(after, date);
  return {
    jurisdictions: changes(one.jurisdictions, other.jurisdictions),
    areas: changes(one.areas, other.areas),
    zips: changes(one.zips, other.zips),
  };
}
