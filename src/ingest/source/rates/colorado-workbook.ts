/**
 * Colorado's workbook of jurisdiction codes and rates (DR 1002 with DR 0800), sheet "By Name": a
 * header with A Location Code (a name), B Jurisdiction Code (six digits), C County, D Self
 * Collected Home Rule, then from I on up to twelve times Tax Type, Rate (percent) and a fee. The
 * column headed Total Rate is not relied on: what is levied are the rates, each of its type. A city
 * has a code for each county, and one more for a part in other districts, which divides it.
 */
import type { DateInt } from '../../../tax/date.js';
import { formatRate, type Rate, RATE_ZERO, sumRates } from '../../../tax/rate.js';
import type { RateRow } from '../../model.js';
import type { DistrictMember } from '../../rates/facts.js';
import {
  DATE_MIN,
  DATE_OPEN,
  districtMember,
  type ListContext,
  listDate,
  listedRow,
  type ListResult,
  OWN_CODE,
  percentOf,
  textOption,
} from '../../rates/list.js';
import { sheetBelow, type SheetRow } from '../workbook.js';
import { countyOf } from './located-totals.js';

const COLUMNS = {
  A: 'Location Code',
  B: 'Jurisdiction Code',
  C: 'County',
  I: 'Tax Type',
  J: 'Rate',
};
/** Columns of a type and its rate. */
// biome-ignore format: pairs of columns, in the order of the sheet
const LEVIES = [
  ['I', 'J'], ['L', 'M'], ['O', 'P'], ['R', 'S'], ['U', 'V'], ['X', 'Y'], ['AA', 'AB'],
  ['AD', 'AE'], ['AG', 'AH'], ['AJ', 'AK'], ['AM', 'AN'], ['AP', 'AQ'],
] as const;
/** Types as publication DR 1002 spells them out. */
const KINDS: Readonly<Record<string, string>> = {
  RTD: 'Regional Transportation District',
  CD: 'Scientific and Cultural Facilities District',
  RTA: 'Regional Transportation Authority',
  HSD: 'Health Services District',
  MTS: 'Mass Transit System',
  PSI: 'Public Safety Improvement',
};

interface Location {
  readonly name: string;
  readonly county: string;
  /** The place; "" for the county outside its cities. */
  readonly place: string;
  readonly countyRate: Rate;
  readonly cityRate: Rate;
  /** Rates of districts, by the meaning of their types. */
  readonly districts: ReadonlyMap<string, Rate>;
}

/** Rates by type. The state's own part confirms that the figures are percentages. */
function leviesOf(row: SheetRow, where: string, state: Rate): ReadonlyMap<string, Rate> {
  const levies = new Map<string, Rate>();
  for (const [type, rate] of LEVIES) {
    const kind = row.at(type).toUpperCase();
    if (kind === '' && row.at(rate) === '') continue;
    if (kind === '') throw new RangeError(`${where}: a rate without a type: ${row.at(rate)}`);
    const more = percentOf(row.at(rate), `${where}: ${kind}`);
    levies.set(kind, sumRates([levies.get(kind) ?? RATE_ZERO, more]));
  }
  if (levies.get('STATE') !== state) {
    throw new RangeError(`${where}: the state's part is not ${formatRate(state)}`);
  }
  return levies;
}

/**
 * The place whose name begins a location's name, since parts of cities are named after them; null
 * for none.
 */
function placeOf(name: string, county: string, context: ListContext): string | null {
  const { gazetteer, state } = context;
  const words = name
    .replaceAll(/[()]/g, ' ')
    .split(/[\s-]+/)
    .filter((word) => word !== '');
  for (let count = words.length; count > 0; count -= 1) {
    const match = gazetteer.city(state, words.slice(0, count).join(' '), county);
    if (match.kind === 'code') return match.code;
    if (match.kind === 'dropped') return null;
  }
  return null;
}

function locationOf(row: SheetRow, context: ListContext): Location | null {
  const [name, code, listed] = [row.at('A'), row.at('B'), row.at('C')];
  const where = `row ${row.line}: ${name}`;
  if (name === '' || !/^\d{6}$/.test(code) || listed === '') {
    throw new RangeError(`${where}: no location with a code and a county: ${code}, ${listed}`);
  }
  context.report.read += 1;
  const state = percentOf(textOption(context, 'state'), 'option state');
  const levies = leviesOf(row, where, state);
  const county = countyOf(listed, context);
  const isCounty = /\bCOUNTY\b/i.test(name);
  const place = isCounty ? '' : placeOf(name, county, context);
  if (county === '' || place === null) {
    context.report.unplace(context.state, name, '', county);
    return null;
  }
  context.report.joined += 1;
  const own = ['STATE', 'COUNTY', 'CITY'];
  return {
    name,
    county,
    place,
    countyRate: levies.get('COUNTY') ?? RATE_ZERO,
    cityRate: levies.get('CITY') ?? RATE_ZERO,
    districts: new Map(
      [...levies]
        .filter(([kind]) => !own.includes(kind))
        .map(([kind, rate]) => [KINDS[kind] ?? kind, rate]),
    ),
  };
}

/** The levies of a location as one text; equal texts mean equal taxes. */
function said({ countyRate, cityRate, districts }: Location): string {
  return JSON.stringify([countyRate, cityRate, [...districts].sort()]);
}

interface Made {
  readonly rows: RateRow[];
  readonly members: DistrictMember[];
}

class Listed {
  readonly made: Made = { rows: [], members: [] };
  readonly #groups = new Map<string, Location[]>();

  constructor(
    readonly locations: readonly Location[],
    readonly from: DateInt,
    readonly to: DateInt,
    readonly context: ListContext,
  ) {
    for (const location of locations) {
      const group = this.#groups.get(`${location.place}@${location.county}`);
      if (group === undefined) this.#groups.set(`${location.place}@${location.county}`, [location]);
      else group.push(location);
    }
  }

  /**
   * The code of a district: one for the county if all locations pay the same, otherwise one for
   * each location.
   */
  #codeOf(kind: string, { name, county }: Location): string {
    const shared = this.context.districtCode(kind);
    if (shared !== null) return shared;
    const rates = new Set(
      this.locations
        .filter((other) => other.county === county)
        .flatMap(({ districts }) => districts.get(kind) ?? []),
    );
    const within = this.context.gazetteer.countyFact(county)?.fullName ?? county;
    return `${OWN_CODE}${kind} - ${rates.size === 1 ? within : `${name}/${within}`}`;
  }

  #row(level: RateRow['level'], at: Location, fields: Partial<RateRow>): void {
    const { county, place, name } = at;
    const { from, to, context } = this;
    this.made.rows.push(
      listedRow(context, RATE_ZERO, { level, county, place, name, from, to, ...fields }),
    );
  }

  #gap(level: 'city' | 'district', at: Location, why: string): void {
    const note = `Colorado: ${why}; the state's boundaries of tax districts would fill it.`;
    this.#row(level, at, { basis: 'unknown', from: DATE_MIN, note });
  }

  #districts(at: Location): void {
    const { county, place } = at;
    for (const [kind, rate] of at.districts) {
      const code = this.#codeOf(kind, at);
      const known = this.made.rows.some((row) => row.level === 'district' && row.code === code);
      if (!known) {
        this.#row('district', at, {
          county: '',
          place: '',
          name: kind,
          code,
          sales: rate,
          use: rate,
        });
      }
      const scope = place === '' ? 'remainder' : 'place';
      const { from, to, context } = this;
      this.made.members.push(districtMember(context, code, { scope, county, place, from, to }));
    }
  }

  #county(county: string): Location | undefined {
    return this.#groups.get(`@${county}`)?.[0];
  }

  /** Adds the rates of a city's part in a county, or of a county outside its cities. */
  add(group: readonly Location[]): void {
    const first = group[0]!;
    const divided = new Set(group.map(said)).size > 1;
    const names = group.map(({ name }) => name).join(', ');
    if (first.place === '') {
      this.#row('county', first, { sales: first.countyRate, use: first.countyRate });
      if (divided) this.#gap('district', first, `districts divide this county (${names})`);
      else this.#districts(first);
      return;
    }
    if (divided) {
      this.#gap('city', first, `districts divide this city (${names})`);
      return;
    }
    const around = this.#county(first.county)?.countyRate ?? 0;
    const alone = around !== first.countyRate;
    const rate = alone ? sumRates([first.countyRate, first.cityRate]) : first.cityRate;
    this.#row('city', first, { basis: alone ? 'sole' : 'own', sales: rate, use: rate });
    this.#districts(first);
  }

  /**
   * Adds unlisted places. They may lie in the districts of their county or not; for one that is
   * only listed in another county, the rate here is unknown.
   */
  addSilent(): void {
    const { gazetteer, state } = this.context;
    const named = new Set(this.locations.map(({ place }) => place));
    for (const place of gazetteer.places(state)) {
      for (const county of place.counties) {
        const around = this.#groups.get(`@${county}`) ?? [];
        if (this.#groups.has(`${place.geoid}@${county}`)) continue;
        if (named.has(place.geoid)) {
          this.#row(
            'city',
            { ...this.locations[0]!, county, place: place.geoid, name: place.name },
            {
              basis: 'unknown',
              note:
                `${place.fullName} is listed in another ` +
                "of its counties alone; the state's own list would fill it.",
            },
          );
        }
        if (around.every(({ districts }) => districts.size === 0)) continue;
        this.#gap(
          'district',
          { ...around[0]!, place: place.geoid, name: place.name },
          `${place.fullName} is not listed, and districts lie around it`,
        );
      }
    }
  }

  result(): ListResult {
    for (const group of this.#groups.values()) this.add(group);
    this.addSilent();
    return this.made;
  }
}

/**
 * Reads the list. Options: `state`, its part in percent; `from` and `to`, the days it speaks for:
 * it names none itself.
 */
export function readColoradoWorkbook(text: string, context: ListContext): ListResult {
  const rows = sheetBelow(text, COLUMNS).rows;
  const locations = rows.map((row) => locationOf(row, context)).filter((one) => one !== null);
  if (locations.length === 0) throw new RangeError('it lists no location');
  const from = listDate(textOption(context, 'from'), context.asOf);
  const to = listDate(textOption(context, 'to'), DATE_OPEN);
  return new Listed(locations, from, to, context).result();
}
