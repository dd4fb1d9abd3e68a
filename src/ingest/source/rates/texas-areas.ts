/**
 * Areas in which codes apply together. If all areas of a city's county part, or of a county's
 * remainder, have the same total, its districts are known; if totals differ, only a boundary could
 * tell. A combined code stands in place of the city's and includes a district, so it is never
 * added.
 */
import { countiesWithLand, type RateRow } from '../../model.js';
import { plainCounty } from '../../rates/book.js';
import type { DistrictMember } from '../../rates/facts.js';
import { districtMember, type ListContext, type ListResult, unknownRow } from '../../rates/list.js';

/** One area of the file. */
export interface TexasArea {
  readonly name: string;
  /** Five digits. */
  readonly county: string;
  /** Code in the city's place: 2…, 6… or "". */
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
  /** Districts that cover all of their county outside its cities. */
  readonly whole: ReadonlySet<string>;
}

/** The areas of a city's part in a county, or of a county's remainder ("" as place). */
interface Group {
  readonly county: string;
  readonly place: string;
  readonly areas: TexasArea[];
}

/** County codes by county; a county without one levies nothing. */
function countyCodes(areas: readonly TexasArea[]): ReadonlyMap<string, string> {
  return new Map(
    areas.filter((area) => area.countyCode !== '').map((area) => [area.county, area.countyCode]),
  );
}

function rateByCode(
  rows: readonly RateRow[],
  areas: readonly TexasArea[],
): (code: string) => number {
  const rates = new Map<string, number>();
  const counties = countyCodes(areas);
  for (const row of rows) {
    const code = row.level === 'county' ? (counties.get(row.county) ?? '') : row.code;
    // The areas are of the same date as the first rows; later rates of a code follow its first.
    if (!rates.has(code)) rates.set(code, row.sales);
  }
  return (code) => rates.get(code) ?? 0;
}

/** The city of a combined area: the one whose name its name begins with. */
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

/** The area from which a group's parts are clearest: with a real city code, and few districts. */
function plainest(areas: readonly TexasArea[]): TexasArea | undefined {
  const rank = (area: TexasArea): string =>
    [
      area.city.startsWith('6') ? 1 : 0,
      area.districts.length,
      // Transit districts come before special purpose districts, which usually exclude them.
      ...area.districts.map((code) => (code.startsWith('3') ? 0 : 1)),
      ...area.districts,
    ].join('/');
  return [...areas].sort((a, b) => (rank(a) < rank(b) ? -1 : 1))[0];
}

function gapRow(county: string, place: string, where: string, context: ListContext): RateRow {
  const note =
    `Texas: special purpose or transit districts divide ${where}; the Comptroller's ` +
    'address files would fill it.';
  return unknownRow(context, { level: 'district', county, place, name: where, note });
}

/**
 * Counties by local code; "" for none. Digits two to four number the counties in the order of their
 * names, in which Census numbers put "Mc" before all other names with "M".
 */
export function countiesByCode({
  gazetteer,
  state,
}: Pick<ListContext, 'gazetteer' | 'state'>): (code: string) => string {
  const letters = (name: string): string =>
    plainCounty(name)
      .toLowerCase()
      .replaceAll(/[^a-z]/g, '');
  const numbered = gazetteer
    .counties(state)
    .map(({ fips, fullName }) => [letters(fullName), fips] as const)
    .sort(([one], [other]) => (one < other ? -1 : 1));
  return (code) => numbered[Number(code.slice(1, 4)) - 1]?.[1] ?? '';
}

/** Counties of districts that no area has, so that they lie somewhere in the county's remainder. */
function strayCounties(input: AreaInput, context: ListContext): ReadonlySet<string> {
  const named = new Set(input.areas.flatMap((area) => area.districts));
  const countyOf = countiesByCode(context);
  const stray = input.rows.filter(
    (row) => row.level === 'district' && !named.has(row.code) && !input.placed.has(row.code),
  );
  return new Set(stray.map((row) => countyOf(row.code)));
}

/** Turns groups one by one into members or gaps. */
class Settlement {
  readonly rows: RateRow[] = [];
  readonly members: DistrictMember[] = [];
  readonly #counties: ReadonlyMap<string, string>;
  readonly #rate: (code: string) => number;

  constructor(
    readonly input: AreaInput,
    readonly context: ListContext,
  ) {
    this.#counties = countyCodes(input.areas);
    this.#rate = rateByCode(input.rows, input.areas);
  }

  #total(area: TexasArea): number {
    const city = this.input.combined.get(area.city) ?? this.#rate(area.city);
    return area.districts.reduce(
      (sum, code) => sum + this.#rate(code),
      city + this.#rate(area.countyCode),
    );
  }

  /** The area whose districts are in force in the whole group; null where totals differ. */
  #common(group: Group, areas: readonly TexasArea[]): TexasArea | null {
    const chosen = plainest(areas);
    const even = new Set(areas.map((area) => this.#total(area))).size === 1;
    const county = this.#counties.get(group.county) ?? '';
    const plain = chosen?.countyCode === county && !chosen.city.startsWith('6');
    return chosen && even && plain ? chosen : null;
  }

  gap(county: string, place: string, where: string): void {
    this.rows.push(gapRow(county, place, where, this.context));
  }

  #hold(chosen: TexasArea, county: string, place: string): void {
    for (const code of chosen.districts) {
      const scope = place ? 'place' : 'remainder';
      this.members.push(districtMember(this.context, code, { scope, county, place }));
    }
  }

  city(group: Group, where: string): void {
    const chosen = this.#common(group, group.areas);
    if (chosen) this.#hold(chosen, group.county, group.place);
    else this.gap(group.county, group.place, where);
  }

  /**
   * Land of a county without an area, as far as it is known: with the districts that cover all of
   * the county. Null where all cities have a district together and no other land does, since it may
   * cover the whole county.
   */
  #unnamed({ county, areas }: Group): TexasArea | null {
    const all = this.input.areas.filter((area) => area.county === county);
    const codes = [...new Set(all.flatMap(({ districts }) => districts))].sort();
    const isWhole = (code: string): boolean => this.input.whole.has(code);
    const isCommon = (code: string): boolean =>
      !isWhole(code) && all.every(({ districts }) => districts.includes(code));
    if (areas.length === 0 && codes.some(isCommon)) return null;
    const countyCode = this.#counties.get(county) ?? '';
    return { name: '', county, city: '', countyCode, districts: codes.filter(isWhole) };
  }

  /** Adds places without an area of their own, which share their county's remainder. */
  remainder(group: Group, sharing: readonly string[], stray: boolean, where: string): void {
    // Land without a settlement has no area in the file, so the absence of an area proves nothing.
    const unnamed = this.#unnamed(group);
    const chosen =
      stray || unnamed === null ? null : this.#common(group, [...group.areas, unnamed]);
    for (const place of ['', ...sharing]) {
      if (chosen) this.#hold(chosen, group.county, place);
      else this.gap(group.county, place, where);
    }
  }
}

/** Makes members and gaps from the areas. */
export function texasAreas(input: AreaInput, context: ListContext): ListResult {
  const groups = groupsOf(input);
  const stray = strayCounties(input, context);
  const settlement = new Settlement(input, context);
  const byPlace = new Map<string, Group[]>();
  for (const group of groups.values()) {
    byPlace.set(group.place, [...(byPlace.get(group.place) ?? []), group]);
  }
  const { gazetteer, state } = context;
  const countyName = (county: string): string => gazetteer.countyFact(county)?.fullName ?? county;
  for (const { fips } of gazetteer.counties(state)) {
    const group = groups.get(`/${fips}`) ?? { county: fips, place: '', areas: [] };
    const sharing = gazetteer
      .places(state)
      .filter((place) => !byPlace.has(place.geoid) && countiesWithLand(place).includes(fips))
      .map((place) => place.geoid);
    const where = `the unincorporated area of ${countyName(fips)}`;
    settlement.remainder(group, sharing, stray.has(fips), where);
  }
  for (const group of groups.values()) {
    if (group.place === '') continue;
    const name = gazetteer.place(group.place)?.name ?? group.place;
    settlement.city(group, `${name} in ${countyName(group.county)}`);
  }
  for (const place of gazetteer.places(state)) {
    const own = byPlace.get(place.geoid) ?? [];
    // A part in another county that the file lacks may lie outside the districts of the other
    // parts.
    if (!own.some((group) => group.areas.some((area) => area.districts.length > 0))) continue;
    for (const county of countiesWithLand(place)) {
      if (groups.has(`${place.geoid}/${county}`)) continue;
      settlement.gap(county, place.geoid, `${place.name} in ${countyName(county)}`);
    }
  }
  return { rows: settlement.rows, members: settlement.members };
}
