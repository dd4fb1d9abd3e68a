/** Cities, towns and villages as the address sources name them, by state. */

/** Flag: the locality has streets whose ZIP is not known. */
export const LOCALITY_WITHOUT_ZIPS = 1;
/** Flag: a source names the locality as the municipality of its doors. */
export const LOCALITY_IS_MUNICIPALITY = 2;

/** One entry of a `p` list: folded name, label, flags. */
export type LocalityRow = readonly [name: string, label: string, flags: number];

/** Words of localities' names that are often abbreviated. */
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

/** Endings by which two neighbouring municipalities with otherwise equal names differ. */
const MUNICIPAL_ENDING = /.(?:CITY|TOWN|VILLAGE|TOWNSHIP|BOROUGH)$/;

/** A folded name without such an ending; "" when it has none. */
export function withoutMunicipalEnding(fold: string): string {
  const found = MUNICIPAL_ENDING.exec(fold);
  return found === null ? '' : fold.slice(0, found.index + 1);
}

/** A city, town or village as the address sources name it. */
export interface Locality {
  readonly id: number;
  readonly label: string;
  /** Whether some of its streets have no known ZIP. */
  readonly withoutZips: boolean;
  /** Whether a source lists doors under it as a municipality, rather than as a postal city. */
  readonly isMunicipality: boolean;
}

/** The localities of one state, by folded name and by number. */
export interface StateLocalities {
  readonly byName: ReadonlyMap<string, readonly Locality[]>;
  readonly byId: readonly Locality[];
}

/** Reads the list of a state; it is empty where the state has none. */
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
