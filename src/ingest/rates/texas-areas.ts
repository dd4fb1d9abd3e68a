/**
 * Areas of codes that apply together: where every area of a city's county part, or of a county's
 * remainder, has the same total, its districts are known; where totals differ, only a boundary can
 * tell. A combined code stands in the city's slot and contains a district, so it never adds.
 */
import { DATE_MIN, DATE_OPEN } from './day.js';
import type { Rate } from '../../tax/rate.js';
import type { RateRow } from '../model.js';
import type { DistrictMember } from './facts.js';
import type { ListContext, ListResult } from './list.js';

/** One area of the file. */
export interface TexasArea {
  readonly name: string;
  /** Five digits. */
  readonly county: string;
  /** Code in the city's slot: 2…, 6… or "". */
  readonly city: string;
  readonly countyCode: string;
  readonly districts: readonly string[];
}

interface AreaInput {
  readonly areas: readonly TexasArea[];
  readonly places: ReadonlyMap<string, string>;
  readonly rows: readonly RateRow[];
  readonly combined: ReadonlyMap<string, number>;
  readonly placed: ReadonlySet<string>;
}

/** A city's part in a county, or a county's remainder ("" as place), with its areas. */
interface Group {
  readonly county: string;
  readonly place: string;
  readonly areas: TexasArea[];
}

function rateByCode(rows: readonly RateRow[], areas: readonly TexasArea[]): (code: string) => number {
  const rates = new Map<string, number>();
  const counties = new Map(areas.filter((area) => area.countyCode !== '')
    .map((area) => [area.county, area.countyCode]));
  for (const row of rows) {
    const code = row.level === 'county' ? counties.get(row.county) ?? '' : row.code;
    // The areas are as old as the undated rows; later changes come after the first.
    if (!rates.has(code)) rates.set(code, row.sales);
  }
  return (code) => rates.get(code) ?? 0;
}

/** The city a combined area lies in: the one its name begins with. */
function cityOf(area: TexasArea, input: AreaInput, names: ReadonlyMap<string, string>): string {
  if (area.city === '') return '';
  if (area.city.startsWith('2')) return input.places.get(area.city) ?? '?';
  const name = (area.name.split('/')[0] ?? '').trim();
  return names.get(name) ?? '?';
}

function groupsOf(input: AreaInput): ReadonlyMap<string, Group> {
  const groups = new Map<string, Group>();
  const names = new Map<string, string>();
  for (const row of input.rows) if (row.level === 'city') names.set(row.name, row.place);
  for (const area of input.areas) {
    const place = cityOf(area, input, names);
    if (place === '?') continue;
    const key = `${place}/${area.county}`;
    const group = groups.get(key) ?? { county: area.county, place, areas: [] };
    group.areas.push(area);
    groups.set(key, group);
  }
  return groups;
}

/** The area that shows a group's parts most plainly: a real city code, then few districts. */
function plainest(areas: readonly TexasArea[]): TexasArea | undefined {
  const rank = (area: TexasArea): string => [
    area.city.startsWith('6') ? 1 : 0,
    area.districts.length,
    // Transit before special purpose districts: those are usually carved out of it.
    ...area.districts.map((code) => (code.startsWith('3') ? 0 : 1)),
    ...area.districts,
  ].join('/');
  return [...areas].sort((a, b) => (rank(a) < rank(b) ? -1 : 1))[0];
}

function gapRow(county: string, place: string, where: string, context: ListContext): RateRow {
  const zero = 0 as Rate;
  const note = `Texas: special purpose or transit districts divide ${where}; the Comptroller's `
    + 'address files would fill it.';
  return {
    state: context.state, level: 'district', county, place, name: where, code: '',
    basis: 'unknown', sales: zero, use: zero, from: DATE_MIN, to: DATE_OPEN,
    source: context.source, asOf: context.asOf, note,
  };
}

/** Counties of districts that no area names: they lie somewhere in the county's remainder. */
function strayCounties(input: AreaInput, context: ListContext): ReadonlySet<string> {
  const named = new Set(input.areas.flatMap((area) => area.districts));
  // The second to fourth digit of a code number the counties by their alphabet.
  const numbered = context.gazetteer.counties(context.state).map((county) => county.fips).sort();
  const stray = input.rows.filter((row) => row.level === 'district'
    && !named.has(row.code) && !input.placed.has(row.code));
  return new Set(stray.map((row) => numbered[Number(row.code.slice(1, 4)) - 1] ?? ''));
}

/** Members and gaps from the areas. */
export function texasAreas(input: AreaInput, context: ListContext): ListResult {
  const rate = rateByCode(input.rows, input.areas);
  const groups = groupsOf(input);
  const stray = strayCounties(input, context);
  const rows: RateRow[] = [];
  const members: DistrictMember[] = [];
  const listed = new Set([...groups.values()].map((group) => group.place));
  const countyNames = new Map(context.gazetteer.counties(context.state)
    .map((county) => [county.fips, county.fullName]));
  const counties = new Map(input.areas.filter((area) => area.countyCode !== '')
    .map((area) => [area.county, area.countyCode]));
  const cityRate = (code: string): number => input.combined.get(code) ?? rate(code);
  const total = (area: TexasArea): number => cityRate(area.city) + rate(area.countyCode)
    + area.districts.reduce((sum, code) => sum + rate(code), 0);
  // Places outside every area of their own share the remainder of their county.
  const sharing = (county: string): readonly string[] => context.gazetteer.places(context.state)
    .filter((place) => !listed.has(place.geoid) && place.counties.includes(county))
    .map((place) => place.geoid);

  const settle = (group: Group, where: string, plain: boolean): void => {
    const { county, place } = group;
    const own: TexasArea = { name: '', county, city: '', countyCode: counties.get(county) ?? '', districts: [] };
    const areas = plain ? [...group.areas, own] : group.areas;
    const chosen = plainest(areas);
    const even = new Set(areas.map(total)).size === 1 && chosen !== undefined
      && chosen.countyCode === (counties.get(county) ?? '') && !chosen.city.startsWith('6');
    const spots = place ? [place] : ['', ...sharing(county)];
    for (const spot of spots) {
      if (!even || (place === '' && stray.has(county))) rows.push(gapRow(county, spot, where, context));
      else for (const code of chosen.districts) {
        members.push({
          state: context.state, code, scope: spot ? 'place' : 'remainder', county, place: spot,
          except: [], from: DATE_MIN, to: DATE_OPEN,
        });
      }
    }
  };
  for (const [county, name] of countyNames) {
    const group = groups.get(`/${county}`) ?? { county, place: '', areas: [] };
    settle(group, `the unincorporated area of ${name}`, true);
  }
  for (const group of groups.values()) {
    if (group.place === '') continue;
    const name = context.gazetteer.place(group.place)?.name ?? group.place;
    settle(group, `${name} in ${countyNames.get(group.county) ?? group.county}`, false);
  }
  for (const place of context.gazetteer.places(context.state)) {
    const own = [...groups.values()].filter((group) => group.place === place.geoid);
    if (!own.some((group) => group.areas.some((area) => area.districts.length > 0))) continue;
    const missing = place.counties.filter((county) => !groups.has(`${place.geoid}/${county}`));
    for (const county of missing) {
      rows.push(gapRow(county, place.geoid, `${place.name} in ${countyNames.get(county) ?? county}`, context));
    }
  }
  return { rows, members };
}
