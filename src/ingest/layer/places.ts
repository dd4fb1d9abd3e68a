/** Where the districts of layers lie: by their boundaries, or by their ZIPs. */
import type { BoundaryFeature } from '../boundary/overlay.js';
import type { DistrictMember } from '../rates/facts.js';
import type { OwnDistrict } from './districts.js';
import type { PlacedDistrict } from './rates.js';
import { boundaryOf } from './layer-files.js';

/** Counties of every ZIP that the lists of a recipe know. */
export type ZipCounties = ReadonlyMap<number, ReadonlySet<string>>;

/** What layers draw, and what they name by ZIPs. */
export interface DistrictPlaces {
  readonly features: readonly BoundaryFeature[];
  readonly districts: readonly OwnDistrict[];
}

type Placed = BoundaryFeature | OwnDistrict;

function byZips({ layer, row, code, state }: PlacedDistrict, known: ZipCounties): OwnDistrict {
  const counties = new Set<string>();
  for (const zip of row.zips) {
    const all = known.get(zip);
    const own = [...all ?? []].filter((county) => county.startsWith(state));
    for (const county of own) counties.add(county);
    const text = String(zip).padStart(5, '0');
    if (own.length === 0) {
      layer.faults.add(row.line, 'zips', all === undefined
        ? `no list knows the ZIP ${text}` : `the ZIP ${text} is none of ${row.state}`);
    }
  }
  return { code, state, zips: row.zips, counties: [...counties].sort(), whole: [] };
}

async function placeOf(one: PlacedDistrict, known: ZipCounties): Promise<Placed | null> {
  const { layer, row, code } = one;
  if (row.zips.length > 0 && row.boundary !== '') {
    layer.faults.add(row.line, 'zips', 'it has a boundary, which says where it is');
  }
  if (row.zips.length > 0) return byZips(one, known);
  return boundaryOf(layer, row, code, row.code || row.name);
}

/**
 * Places every district of the layers; of several rows of one any may say where it is.
 * @throws Error with the rows of those that nobody places, and of boundaries that cannot be read.
 */
export async function placeDistricts(
  rows: readonly PlacedDistrict[], members: readonly DistrictMember[], known: ZipCounties,
): Promise<DistrictPlaces> {
  const found = new Map<string, { readonly of: PlacedDistrict; readonly place: Placed }>();
  const unread = new Set<string>();
  for (const one of rows) {
    const { layer, row, code, isNew } = one;
    if (row.boundary === '' && row.zips.length === 0 && !isNew) continue;
    const place = await placeOf(one, known);
    const before = found.get(code);
    if (place !== null && before?.of.layer === layer && row.boundary + row.zips.join() !== ''
      && before.of.row.boundary + before.of.row.zips.join()
        !== row.boundary + row.zips.join()) {
      layer.faults.add(row.line, 'boundary', `line ${before.of.row.line} places it elsewhere`);
    }
    if (place !== null) found.set(code, { of: one, place });
    else if (row.boundary !== '') unread.add(code);
  }
  for (const { layer, row, code, isNew } of rows) {
    const isMember = members.some((one) => one.state === row.state && one.code === code);
    if (!isNew || isMember || found.has(code) || unread.has(code)) continue;
    layer.faults.add(row.line, 'boundary', `nobody knows where the district ${row.name} is: name a `
      + 'GeoJSON file of its boundary, its zips, or the counties or cities that it holds in');
  }
  for (const { layer } of rows) layer.faults.settle();
  const places = [...found.values()];
  return {
    features: places.flatMap(({ place }) => ('polygon' in place ? [place] : [])),
    districts: places.map(({ of: { code, state }, place }) => ('polygon' in place
      ? { code, state, zips: [], counties: [], whole: [] } : place)),
  };
}
