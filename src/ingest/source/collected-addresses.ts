/** Doors of collections of many publishers: OpenAddresses, the National Address Database. */
import type { FallenRows } from './fallen.js';
import { type AddressPoint, degrees, readGeoJsonPoints, toAddressPoint } from './points.js';
import type { PointOptions } from './address-source.js';
import { columnIndexes, readRows } from './rows.js';
import { fileError, memberNames, nameExpression, splitMember } from './zip.js';

/*
 * Collections of OpenAddresses: an archive with a member for each source, one feature a line
 * ("us/vt/statewide-addresses-state.geojson"). Features name no state; the member's path does.
 */

/** Names of members with doors; others have parcels and buildings. */
const DOORS = /-addresses-[^/]*\.geojson(?:\.gz)?$/i;
const MEMBER_STATE = /(?:^|\/)us\/([a-z]{2})\//i;

/**
 * Yields the doors of every member that the path names: "FILE.zip" all of them, "FILE.zip!us/vt/*"
 * those of a state.
 * @throws Error where none has that name.
 */
export async function* readAddressCollection(
  path: string,
  options: PointOptions,
): AsyncGenerator<AddressPoint> {
  const { file, member } = splitMember(path);
  const wanted = member === null ? null : nameExpression(member);
  const names = (await memberNames(file))
    .filter((name) => DOORS.test(name) && (wanted === null || wanted.test(name)))
    .sort();
  if (names.length === 0) {
    throw fileError(file, `it has no member ${member ?? 'with addresses'}`);
  }
  for (const name of names) {
    const state = MEMBER_STATE.exec(name)?.[1]?.toUpperCase() ?? options.state;
    yield* readGeoJsonPoints(`${file}!${name}`, { ...options, state });
  }
}

/*
 * The National Address Database as text (NAD_rNN.txt in its archive, 41 GB unpacked): comma
 * separated, a header, one row a door with its street spelled out (StNam_Full) beside the parts of
 * it. Columns of days are named otherwise from release to release, so that columns go by name. "Not
 * stated" and the like stand where nothing is known, ZIPs have blanks, retired addresses are
 * listed, and rows that lack a field have every later one moved.
 */

const COLUMNS = {
  numberPrefix: 'AddNum_Pre',
  number: 'Add_Number',
  numberSuffix: 'AddNum_Suf',
  street: 'StNam_Full',
  unit: 'Unit',
  county: 'County',
  municipality: 'Inc_Muni',
  city: 'Post_City',
  state: 'State',
  zip: 'Zip_Code',
  zip4: 'Plus_4',
  lng: 'Longitude',
  lat: 'Latitude',
  lifecycle: 'Lifecycle',
} as const;
/** Texts that mean that nothing is known. */
const NOTHING = /^(?:not stated|not applicable|unknown|unincorporated|none|n\/?a)$/i;
const STATE = /^[A-Z]{2}$/i;

type Column = keyof typeof COLUMNS;

/** Whether a row is left out, because it has a fault or is not needed; the reason is recorded. */
function isLeft(
  fields: readonly string[],
  columns: number,
  said: (name: Column) => string,
  row: number,
  fallen: FallenRows | undefined,
): boolean {
  if (fields.length !== columns) {
    fallen?.fault(row, 'with another number of fields than the header');
  } else if (said('state') !== '' && !STATE.test(said('state'))) {
    fallen?.fault(row, 'with a state that is none');
  } else if (/^retired$/i.test(said('lifecycle'))) fallen?.leave(row, 'that are retired');
  else if (Number(said('lng')) === 0) fallen?.leave(row, 'without coordinates');
  else return false;
  return true;
}

/**
 * Yields the doors of the file.
 * @throws Error when its header lacks a column.
 */
export async function* readNationalAddresses(
  path: string,
  options: PointOptions,
): AsyncGenerator<AddressPoint> {
  let at: Readonly<Record<Column, number>> | null = null;
  let columns = 0;
  for await (const fields of readRows(path, ',')) {
    if (at === null) {
      at = columnIndexes(path, fields, COLUMNS);
      columns = fields.length;
      continue;
    }
    const column = at;
    const row = (options.fallen?.next() ?? 0) + 1;
    const said = (name: Column): string => {
      const text = (fields[column[name]] ?? '').trim();
      return NOTHING.test(text) ? '' : text;
    };
    if (isLeft(fields, columns, said, row, options.fallen)) continue;
    const point = toAddressPoint(
      {
        number: said('number'),
        numberPrefix: said('numberPrefix'),
        numberSuffix: said('numberSuffix'),
        street: said('street'),
        unit: said('unit'),
        city: said('city'),
        municipality: said('municipality'),
        county: said('county'),
        state: said('state'),
        zip: said('zip').replaceAll(' ', ''),
        zip4: said('zip4'),
        lat: degrees(said('lat')),
        lng: degrees(said('lng')),
      },
      options,
      row,
    );
    if (point !== null) yield point;
  }
}
