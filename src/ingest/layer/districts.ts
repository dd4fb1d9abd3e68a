/**
 * Districts of layers, which are drawn or consist of ZIPs. For one of ZIPs, a mere spot does not
 * tell whether it is inside. Its tax area therefore leaves that open, and addresses and ZIPs, which
 * know their ZIP, settle it.
 */
import { type AreaTuple, type InternArea, OPEN_MARK } from '../model.js';
import { spotKey } from '../zip/cities.js';

/** Where a district is in force. Plain values, so that they can be passed to threads. */
export interface OwnDistrict {
  readonly code: string;
  /** FIPS digits of its state, beyond which it does not extend; "" where that is not given. */
  readonly state: string;
  /** ZIPs that belong to it completely; empty for a drawn district. */
  readonly zips: readonly number[];
  /** Counties that it has land in, five digits. */
  readonly counties: readonly string[];
  /** Counties that belong to it completely. */
  readonly whole: readonly string[];
  /** Set for a district of the recipe, which authorities' records name where it is in force. */
  readonly listed?: true;
}

/**
 * A tax area whose open districts a ZIP settles: the resulting areas, indexed by which of the codes
 * are in force, as bits.
 */
export interface SettledArea {
  readonly area: number;
  readonly codes: readonly string[];
  readonly areas: readonly number[];
}

interface Known extends OwnDistrict {
  readonly inside: ReadonlySet<number>;
}

/** The districts of all layers and boundaries. Without any, tuples stay unchanged. */
export class OwnDistricts {
  readonly #all: readonly Known[];
  readonly #byCode: ReadonlyMap<string, Known>;
  /** For a combination of jurisdictions, the sets of drawn districts that occur in its land. */
  readonly #ways = new Map<string, Map<string, readonly string[]>>();

  constructor(districts: readonly OwnDistrict[]) {
    this.#all = districts.map((one) => ({ ...one, inside: new Set(one.zips) }));
    this.#byCode = new Map(this.#all.map((one) => [one.code, one]));
  }

  get list(): readonly OwnDistrict[] {
    return this.#all.map(({ inside: _, ...one }) => one);
  }

  /**
   * The tuple of a spot: districts are cut off at their state's border, and those by ZIPs are left
   * open.
   */
  mark(tuple: AreaTuple): AreaTuple {
    if (this.#all.length === 0) return tuple;
    const drawn = tuple.districts.filter(
      (code) => (this.#byCode.get(code)?.state || tuple.state) === tuple.state,
    );
    const open = this.#all
      .filter(
        ({ zips, state, counties }) =>
          zips.length > 0 && state === tuple.state && counties.includes(tuple.county),
      )
      .map(({ code }) => OPEN_MARK + code);
    return { ...tuple, districts: [...drawn, ...open].sort() };
  }

  /** The same districts, with the sets that occur in the overlay's tuples. */
  learned(tuples: readonly AreaTuple[]): OwnDistricts {
    const drawn = new Set(
      this.#all.filter(({ zips }) => zips.length === 0).map(({ code }) => code),
    );
    const some = new Map<string, Set<string>>([...drawn].map((code) => [code, new Set()]));
    const without = new Map<string, Set<string>>([...drawn].map((code) => [code, new Set()]));
    const shown = drawn.size === 0 ? [] : tuples;
    for (const { county, districts } of shown) {
      for (const code of drawn) (districts.includes(code) ? some : without).get(code)!.add(county);
    }
    const learned = new OwnDistricts(
      this.list.map((one) =>
        drawn.has(one.code)
          ? {
              ...one,
              counties: [...some.get(one.code)!],
              whole: [...some.get(one.code)!].filter(
                (county) => !without.get(one.code)!.has(county),
              ),
            }
          : one,
      ),
    );
    for (const tuple of shown) {
      const own = tuple.districts.filter((code) => drawn.has(code));
      const ways = learned.#ways.get(spotKey(tuple)) ?? new Map<string, readonly string[]>();
      learned.#ways.set(spotKey(tuple), ways.set(own.join(), own));
    }
    return learned;
  }

  /** A tuple with its open districts settled by the ZIP; without a ZIP they stay open. */
  settle(tuple: AreaTuple, zip: number | null): AreaTuple {
    if (zip === null || !tuple.districts.some((code) => code.startsWith(OPEN_MARK))) return tuple;
    return {
      ...tuple,
      districts: tuple.districts
        .flatMap((code) =>
          !code.startsWith(OPEN_MARK)
            ? [code]
            : this.#byCode.get(code.slice(1))?.inside.has(zip)
              ? [code.slice(1)]
              : [],
        )
        .sort(),
    };
  }

  /** The tuple of an authority's record, which does not know these districts. */
  ofRecord(tuple: AreaTuple, zip: number | null): AreaTuple {
    const own = this.#all.flatMap(({ code, state, zips, counties, whole, listed }) => {
      if (listed === true || state !== tuple.state || !counties.includes(tuple.county)) return [];
      return whole.includes(tuple.county) && zips.length === 0 ? [code] : [OPEN_MARK + code];
    });
    if (own.length === 0) return tuple;
    return this.settle({ ...tuple, districts: [...tuple.districts, ...own].sort() }, zip);
  }

  /**
   * A combination of jurisdictions in a ZIP, or in a city by its name (null), once for each set of
   * districts that occurs in its land. The sets are chosen by `reached`, which are spots of the
   * ZIP. If no spot lies in that land, sets with a district that cannot reach the ZIP are left out,
   * unless no others remain.
   */
  variants(
    tuple: AreaTuple,
    zip: number | null,
    reached: readonly AreaTuple[],
    mayHold: (district: string) => boolean = () => true,
  ): readonly AreaTuple[] {
    if (this.#all.length === 0) return [tuple];
    const place = spotKey(tuple);
    const here = reached.filter((spot) => spotKey(spot) === place);
    const ways =
      here.length > 0
        ? new Map(
            here.map(({ districts }) => {
              const own = districts.filter((code) => this.#byCode.get(code)?.zips.length === 0);
              return [own.join(), own] as const;
            }),
          )
        : (this.#ways.get(place) ?? this.#everyWay(tuple));
    const kept = tuple.districts.filter((code) => !this.#byCode.has(code));
    const all = [...ways.values()];
    const possible = here.length > 0 ? all : all.filter((own) => own.every(mayHold));
    return (possible.length > 0 ? possible : all).map((own) =>
      this.settle(this.mark({ ...tuple, districts: [...kept, ...own] }), zip),
    );
  }

  /** Used where no spot of the land is known: each drawn district of the county alone, and none. */
  #everyWay(tuple: AreaTuple): ReadonlyMap<string, readonly string[]> {
    const drawn = this.#all.filter(
      ({ zips, counties }) => zips.length === 0 && counties.includes(tuple.county),
    );
    return new Map<string, readonly string[]>([
      ['', []],
      ...drawn.map(({ code }) => [code, [code]] as const),
    ]);
  }

  /** The key of a tuple within a ZIP, including districts of layers. */
  key(tuple: AreaTuple): string {
    const own = tuple.districts.filter((code) => this.#byCode.has(code));
    return own.length === 0 ? spotKey(tuple) : `${spotKey(tuple)}|${own.join()}`;
  }

  /** Areas with open districts, and the areas that these become for ZIPs inside and outside. */
  settled(tuples: readonly AreaTuple[], intern: InternArea): readonly SettledArea[] {
    return tuples.flatMap((tuple, area): SettledArea[] => {
      const codes = tuple.districts
        .filter((code) => code.startsWith(OPEN_MARK))
        .map((code) => code.slice(1));
      if (codes.length === 0) return [];
      const others = tuple.districts.filter((code) => !code.startsWith(OPEN_MARK));
      return [
        {
          area,
          codes,
          areas: Array.from({ length: 2 ** codes.length }, (_, bits) =>
            intern({
              ...tuple,
              districts: [...others, ...codes.filter((_code, at) => (bits >> at) % 2 === 1)].sort(),
            }),
          ),
        },
      ];
    });
  }
}

/** Districts that a recipe's boundaries draw; `learned` finds out where. */
export function drawnDistricts(codes: Iterable<string>): readonly OwnDistrict[] {
  return [...codes].map((code) => ({
    code,
    state: '',
    zips: [],
    counties: [],
    whole: [],
    listed: true as const,
  }));
}

/** Used where there are no layers. */
export const NO_DISTRICTS = new OwnDistricts([]);

/**
 * Makes the function that gives the tax area of an address with a ZIP ("" for none), from the area
 * of its spot.
 */
export function areaSettler(
  districts: readonly OwnDistrict[],
  settled: readonly SettledArea[],
): (area: number, zip: string) => number {
  if (settled.length === 0) return (area) => area;
  const byArea = new Map(settled.map((one) => [one.area, one]));
  const inside = new Map(districts.map(({ code, zips }) => [code, new Set(zips)]));
  return (area, zip) => {
    const open = zip === '' ? undefined : byArea.get(area);
    if (open === undefined) return area;
    const bits = open.codes.reduce(
      (sum, code, at) => sum + (inside.get(code)?.has(Number(zip)) ? 2 ** at : 0),
      0,
    );
    return open.areas[bits]!;
  };
}
