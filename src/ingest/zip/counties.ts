/**
 * The counties of each ZIP. Two crosswalks are combined, of delivered addresses and of census land.
 * The county in a postal list only decides where these disagree and the ZIP's point does not tell
 * or, with other evidence, where they have none.
 */
import type { ZipLists } from './zip-facts.js';
import type { PlaceNames } from './names.js';

/** A ZIP with its postal names and counties. */
export interface PostalZip {
  readonly zip: number;
  /** Two-letter code of the postal city; "" when no list names one. */
  readonly state: string;
  /** Postal cities in mixed case, the preferred one first. */
  readonly names: readonly string[];
  /** Five digits each, ordered by how likely they have the most doors. */
  readonly counties: readonly string[];
}

interface Lists {
  readonly delivered: ReadonlyMap<number, ReadonlySet<string>>;
  readonly tabulated: ReadonlyMap<number, ReadonlySet<string>>;
  /** Counties that either crosswalk has for ZIPs with the same first three digits. */
  readonly nearby: ReadonlyMap<number, ReadonlySet<string>>;
}

const NONE: ReadonlySet<string> = new Set();

function collect<K>(pairs: Iterable<readonly [K, string]>): Map<K, Set<string>> {
  const sets = new Map<K, Set<string>>();
  for (const [key, county] of pairs) {
    const set = sets.get(key);
    if (set === undefined) sets.set(key, new Set([county]));
    else set.add(county);
  }
  return sets;
}

function prefixOf(zip: number): number {
  return Math.floor(zip / 100);
}

function lists(input: ZipLists): Lists {
  const known = new Set(input.counties.map((county) => county.fips));
  const delivered = input.delivered.filter(({ county }) => known.has(county));
  const tabulated = input.tabulated.filter(({ county }) => known.has(county));
  return {
    delivered: collect(delivered.map(({ zip, county }) => [zip, county] as const)),
    tabulated: collect(tabulated.map(({ zip, county }) => [zip, county] as const)),
    nearby: collect(
      [...delivered, ...tabulated].map(({ zip, county }) => [prefixOf(zip), county] as const),
    ),
  };
}

/**
 * The counties of both lists. If these have none in common, one list is wrong: the one is right
 * that has the county of the ZIP's own point or, where neither has, the postal list's county.
 */
function joined(
  one: ReadonlySet<string>,
  other: ReadonlySet<string>,
  { county: hint, hasPointIn }: Hint,
): Set<string> {
  const apart = one.size > 0 && other.size > 0 && ![...one].some((county) => other.has(county));
  for (const isRight of apart ? [hasPointIn, (county: string) => county === hint] : []) {
    const right = [one, other].find((list) => [...list].some(isRight));
    if (right !== undefined) return new Set(right);
  }
  return new Set([...one, ...other]);
}

interface Hint {
  /** The county in the postal list; "" for none. */
  readonly county: string;
  /** Whether one of the ZIP's points lies in a county, as far as boundaries are known. */
  readonly hasPointIn: (county: string) => boolean;
  /** Counties of the places with the postal city's name. */
  readonly named: ReadonlySet<string>;
  /** FIPS digits of the postal state; "" for none. */
  readonly home: string;
}

/**
 * A county for a ZIP that is in no crosswalk. It is the postal list's, if nearby ZIPs, a place with
 * the postal name or the ZIP's point lie in it. Otherwise it is the only county of places with the
 * name, if nearby ZIPs or the point agree.
 */
function guess(from: Lists, zip: number, { county, hasPointIn, named }: Hint): string | null {
  const nearby = from.nearby.get(prefixOf(zip)) ?? NONE;
  const isNear = (own: string): boolean => nearby.has(own) || hasPointIn(own);
  if (county !== '') return isNear(county) || named.has(county) ? county : null;
  const [only] = named;
  return only !== undefined && named.size === 1 && isNear(only) ? only : null;
}

function countiesOf(from: Lists, zip: number, given: Hint): string[] {
  const { county: hint, home } = given;
  const delivered = from.delivered.get(zip) ?? NONE;
  const tabulated = from.tabulated.get(zip) ?? NONE;
  const counties = joined(delivered, tabulated, given);
  const atHome = home !== '' && [...counties].some((county) => county.startsWith(home));
  if (counties.size === 0 || !atHome) {
    const guessed = guess(from, zip, given);
    if (guessed !== null) counties.add(guessed);
  } else {
    for (const county of counties) {
      // Census land is made of blocks, which no state line crosses, so a county beyond it is an
      // overlap. A list of delivered addresses alone has more errors there than overlaps.
      if (!county.startsWith(home) && !tabulated.has(county)) counties.delete(county);
    }
  }
  const rank = (county: string): number =>
    (county === hint ? 0 : 4) +
    (delivered.has(county) ? 0 : 2) +
    (tabulated.has(county) ? 0 : 1) +
    (county.startsWith(home) ? 0 : 8);
  return [...counties].sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
}

/**
 * For ZIPs without a county: the county of all other ZIPs of the postal city, if that is only one.
 */
function fillByName(postalZips: readonly PostalZip[]): PostalZip[] {
  const key = (postal: PostalZip): string => `${postal.state}|${postal.names[0] ?? ''}`;
  const shared = collect(
    postalZips.flatMap((postal) => postal.counties.map((county) => [key(postal), county] as const)),
  );
  return postalZips.map((postal) => {
    const counties = [...(shared.get(key(postal)) ?? NONE)];
    const fill = postal.counties.length === 0 && postal.names.length > 0 && counties.length === 1;
    return fill ? { ...postal, counties } : postal;
  });
}

/** The postal names and counties of every ZIP in any list, in ascending order. */
export function listPostalZips(input: ZipLists, names: PlaceNames): PostalZip[] {
  const from = lists(input);
  const known = new Set(input.counties.map((county) => county.fips));
  const fips = new Map(input.states.map(({ code, fips: digits }) => [code, digits]));
  const posts = new Map<
    number,
    {
      state: string;
      county: string;
      names: string[];
      points: { lat: number; lng: number }[];
    }
  >();
  for (const { zip, state, county, name, lat, lng } of input.points) {
    const post = posts.get(zip);
    if (post === undefined) {
      posts.set(zip, { state, county, names: [name], points: [{ lat, lng }] });
    } else {
      if (!post.names.includes(name)) post.names.push(name);
      post.points.push({ lat, lng });
    }
  }
  const fixed = new Map<number, string>();
  for (const { zip, state, city, county } of input.facts.territories) {
    if (!posts.has(zip)) posts.set(zip, { state, county, names: [city], points: [] });
    if (county !== '') fixed.set(zip, county);
  }
  const zips = new Set([...posts.keys(), ...from.delivered.keys(), ...from.tabulated.keys()]);
  const postalZips = [...zips]
    .sort((a, b) => a - b)
    .map((zip) => {
      const post = posts.get(zip);
      const county = fixed.get(zip);
      const home = fips.get(post?.state ?? '') ?? '';
      const abroad = post !== undefined && home === '';
      const hint = post !== undefined && known.has(post.county) ? post.county : '';
      const named = new Set(
        (post?.names ?? []).flatMap((name) =>
          names.find(post?.state ?? '', name).flatMap((place) => place.counties),
        ),
      );
      const hasPointIn = (own: string): boolean =>
        post?.points.some(({ lat, lng }) => input.tupleAt?.(lat, lng)?.county === own) === true;
      const counties = abroad
        ? []
        : county !== undefined
          ? [county]
          : countiesOf(from, zip, { county: hint, hasPointIn, named, home });
      return { zip, state: post?.state ?? '', names: post?.names ?? [], counties };
    });
  return fillByName(postalZips);
}
