/** Degrees of positions whose file names another projection. */
import { createRequire } from 'node:module';

/** [east, north, …] as the file has them, to [longitude, latitude] in degrees. */
export type ToDegrees = (position: readonly number[]) => readonly number[];

type Proj4 = (from: string, to: string) => { forward(position: number[]): number[] };

const DEGREES = 'EPSG:4326';
/** Names of systems whose coordinates are degrees: WGS 84 and the Census Bureau's NAD 83. */
const IN_DEGREES = /(?:EPSG:{1,2}(?:4326|4269)|CRS:?84|CRS:?83)$/i;
const PROJECTED = /^\s*PROJCS\["([^"]*)"/;
const EPSG = /EPSG:{1,2}(\d+)$/i;

/**
 * What brings positions of a projection to degrees: `definition` is the text of a .prj file, or the
 * name of a reference system, "" for none.
 * @returns null where positions are degrees already.
 * @throws RangeError for a projection that is not known.
 */
export function degreesOf(definition: string): ToDegrees | null {
  const [, wkt] = PROJECTED.exec(definition) ?? [];
  const [, code] = EPSG.exec(definition.trim()) ?? [];
  if (wkt === undefined && (code === undefined || IN_DEGREES.test(definition.trim()))) return null;
  const named = wkt ?? `EPSG:${code ?? ''}`;
  try {
    // The library is needed where a layer is projected alone, and is no module of its own kind.
    const proj4 = createRequire(import.meta.url)('proj4') as Proj4;
    const { forward } = proj4(wkt === undefined ? named : definition, DEGREES);
    return ([east = 0, north = 0]) => forward([east, north]);
  } catch (error) {
    throw new RangeError(`its coordinates are those of ${named}, which is not known here; convert `
      + `it to EPSG:4326 or take the publisher's file in degrees (${(error as Error).message})`);
  }
}
