/**
 * Collections of OpenAddresses: an archive with a member for each source, one feature a line
 * ("us/vt/statewide-addresses-state.geojson"). Features name no state; the member's path does.
 */
import { type AddressPoint, type PointOptions, readGeoJsonPoints } from './points.js';
import { fileError, memberNames, nameExpression, splitMember } from './zip.js';

/** Members with doors; parcels and buildings lie beside them. */
const DOORS = /-addresses-[^/]*\.geojson(?:\.gz)?$/i;
const STATE = /(?:^|\/)us\/([a-z]{2})\//i;

/**
 * Streams the doors of every member that the path names: "FILE.zip" all of them, "FILE.zip!us/vt/*"
 * those of a state.
 * @throws Error where none has that name.
 */
export async function* readAddressCollection(
  path: string, options: PointOptions,
): AsyncGenerator<AddressPoint> {
  const { file, member } = splitMember(path);
  const wanted = member === null ? null : nameExpression(member);
  const names = (await memberNames(file))
    .filter((name) => DOORS.test(name) && (wanted === null || wanted.test(name))).sort();
  if (names.length === 0) {
    throw fileError(file, `it has no member ${member ?? 'with addresses'}`);
  }
  for (const name of names) {
    const state = STATE.exec(name)?.[1]?.toUpperCase() ?? options.state;
    yield* readGeoJsonPoints(`${file}!${name}`, { ...options, state });
  }
}
