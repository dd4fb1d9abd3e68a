/** Cities, towns and villages as the address sources name them, by state. */

/** A locality with streets whose ZIP is not known. */
export const LOCALITY_WITHOUT_ZIPS = 1;
/** A locality that a source names as the municipality of its doors. */
export const LOCALITY_IS_MUNICIPALITY = 2;

/** One entry of a `p` list: folded name, label, flags. */
export type LocalityRow = readonly [name: string, label: string, flags: number];

/** Words of their names that are written short. */
export const LONG_FORMS: Readonly<Record<string, string>> = {
  ST: 'SAINT',
  STE: 'SAINTE',
  MT: 'MOUNT',
  FT: 'FORT',
  PT: 'POINT',
  N: 'NORTH',
  S: 'SOUTH',
  SO: 'SOUTH',
  NO: 'NORTH',
  E: 'EAST',
  W: 'WEST',
  HTS: 'HEIGHTS',
  SPGS: 'SPRINGS',
  JCT: 'JUNCTION',
};

/** Kinds of municipality that a name may end in where two neighbours share the rest. */
const MUNICIPAL_ENDING = /.(?:CITY|TOWN|VILLAGE|TOWNSHIP|BOROUGH)$/;

/** A folded name without its municipal ending, or "" when it has none. */
export function withoutMunicipalEnding(fold: string): string {
  const found = MUNICIPAL_ENDING.exec(fold);
  return found === null ? '' : fold.slice(0, found.index + 1);
}

/** A city, town or village as the address sources name it. */
export interface Locality {
  readonly id: number;
  readonly label: string;
  /** Some of its streets have no known ZIP. */
  readonly withoutZips: boolean;
  /** A source lists its doors as those of the municipality, not of a postal city. */
  readonly isMunicipality: boolean;
}

/** Localities of one state, by folded name and by number. */
export interface StateLocalities {
  readonly byName: ReadonlyMap<string, readonly Locality[]>;
  readonly byId: readonly Locality[];
}

/** Reads the list of a state; null where it has none. */
export function readLocalities(bytes: Uint8Array | null): StateLocalities {
  if (bytes === null) return { byName: new Map(), byId: [] };
  const rows = JSON.parse(Buffer.from(bytes).toString('utf8')) as readonly LocalityRow[];
  const exact = new Map<string, Locality[]>();
  const shortened = new Map<string, Locality[]>();
  const byId = rows.map(([name, label, flags], id) => {
    const locality = {
      id,
      label,
      withoutZips: (flags & LOCALITY_WITHOUT_ZIPS) !== 0,
      isMunicipality: (flags & LOCALITY_IS_MUNICIPALITY) !== 0,
    };
    if (id > 0) add(exact, name, locality);
    const short = withoutMunicipalEnding(name);
    if (short !== '') add(shortened, short, locality);
    return locality;
  });
  // "Barre" means Barre City and Barre Town unless a source knows a plain Barre.
  for (const [name, list] of shortened) if (!exact.has(name)) exact.set(name, list);
  return { byName: exact, byId };
}

function add(into: Map<string, Locality[]>, name: string, locality: Locality): void {
  const list = into.get(name);
  if (list === undefined) into.set(name, [locality]);
  else list.push(locality);
}
