/**
 * Districts of layers, which hold where they are drawn or by ZIPs. By ZIPs nobody can tell whether
 * a mere spot is inside: its tax area says so, and addresses and ZIPs, which know their ZIP,
 * settle it.
 */
import { type AreaTuple, type InternArea, OPEN_MARK } from '../model.js';
import { spotKey } from '../zip/cities.js';

/** Where a district holds; plain values, so that threads can be told. */
export interface OwnDistrict {
  readonly code: string;
  /** FIPS digits of its state, beyond which it never holds; "" where that is not said. */
  readonly state: string;
  /** ZIPs that are all its own; empty for one that is drawn. */
  readonly zips: readonly number[];
  /** Counties that some of it lies in, five digits. */
  readonly counties: readonly string[];
  /** Counties that lie in it whole. */
  readonly whole: readonly string[];
  /** Of the recipe: the records of authorities name it where it holds. */
  readonly listed?: true;
}

/** A tax area whose districts a ZIP settles: area numbers by which of the codes hold, in bits. */
export interface SettledArea {
  readonly area: number;
  readonly codes: readonly string[];
  readonly areas: readonly number[];
}

interface Known extends OwnDistrict {
  readonly inside: ReadonlySet<number>;
}

/** The districts of all layers and boundaries; without any, everything stays what it is. */
export class OwnDistricts {
  readonly #all: readonly Known[];
  readonly #byCode: ReadonlyMap<string, Known>;
  /** Drawn districts that hold in the land of a combination of jurisdictions, each way there is. */
  readonly #ways = new Map<string, Map<string, readonly string[]>>();

  constructor(districts: readonly OwnDistrict[]) {
    this.#all = districts.map((one) => ({ ...one, inside: new Set(one.zips) }));
    this.#byCode = new Map(this.#all.map((one) => [one.code, one]));
  }

  get list(): readonly OwnDistrict[] {
    return this.#all.map(({ inside: _, ...one }) => one);
  }

  /** A tuple of a spot: districts end at their state's border, and those by ZIPs are open. */
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

  /** These districts, with what the overlay of boundaries shows of those that are drawn. */
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

  /** A tuple whose open districts the ZIP settles; without a ZIP they stay open. */
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

  /** A tuple of an authority's record, which knows none of these districts. */
  ofRecord(tuple: AreaTuple, zip: number | null): AreaTuple {
    const own = this.#all.flatMap(({ code, state, zips, counties, whole, listed }) => {
      if (listed === true || state !== tuple.state || !counties.includes(tuple.county)) return [];
      return whole.includes(tuple.county) && zips.length === 0 ? [code] : [OPEN_MARK + code];
    });
    if (own.length === 0) return tuple;
    return this.settle({ ...tuple, districts: [...tuple.districts, ...own].sort() }, zip);
  }

  /**
   * A combination of jurisdictions of a ZIP, or of a city by its name (null), in every way in which
   * districts hold in its land; `reached` are spots of the ZIP, by which those ways are chosen.
   * Where none of them is in that land, ways with a district that cannot reach the ZIP are out, if
   * others are left.
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

  /** Where no spot of the land is known: each drawn district of the county, and none. */
  #everyWay(tuple: AreaTuple): ReadonlyMap<string, readonly string[]> {
    const drawn = this.#all.filter(
      ({ zips, counties }) => zips.length === 0 && counties.includes(tuple.county),
    );
    return new Map<string, readonly string[]>([
      ['', []],
      ...drawn.map(({ code }) => [code, [code]] as const),
    ]);
  }

  /** The key by which parts of a ZIP are told apart: with the districts of layers. */
  key(tuple: AreaTuple): string {
    const own = tuple.districts.filter((code) => this.#byCode.has(code));
    return own.length === 0 ? spotKey(tuple) : `${spotKey(tuple)}|${own.join()}`;
  }

  /** Areas with open districts, and what they are for the ZIPs inside and outside. */
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

/** Districts that the boundaries of a recipe draw, for `learned` to tell where. */
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

/** Without layers. */
export const NO_DISTRICTS = new OwnDistricts([]);

/** Gives the tax area of an address with its ZIP ("" for none) by the area of its spot. */
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
