/** Shapefiles of any kind, plain or within the zip archive they are published in. */
import { Readable } from 'node:stream';
import type { Feature } from 'geojson';
import { open } from 'shapefile';
import { readBytes } from './container.js';
import { partOf, partText } from './shape-parts.js';
import { fileError, splitMember } from './zip.js';

/**
 * A stream as the library takes it: typed for browsers, it asks for a stream of Node. A fault goes
 * to `faults` and ends the stream, for the library leaves a failed one unhandled.
 */
function source(path: string, faults: unknown[]): never {
  async function* bytes(): AsyncGenerator<Buffer> {
    try {
      yield* readBytes(path);
    } catch (error) {
      faults.push(error);
    }
  }
  return Readable.from(bytes(), { objectMode: false }) as never;
}

/** Columns of the Census Bureau whose names end in the year of their geography (GEOID20). */
const OF_A_YEAR = /^([A-Z]+)(?:10|20)$/;

/** The same feature with such columns also under their plain name, as other years have them. */
function plainlyNamed(feature: Feature): Feature {
  const found = feature.properties ?? {};
  const plain = Object.entries(found).flatMap(([name, value]) => {
    const [, bare] = OF_A_YEAR.exec(name) ?? [];
    return bare === undefined || bare in found ? [] : [[bare, value] as const];
  });
  return plain.length === 0 ? feature
    : { ...feature, properties: { ...found, ...Object.fromEntries(plain) } };
}

/**
 * Streams the features of "FILE.shp", "FILE.zip" with one shapefile in it, or "FILE.zip!NAME.shp".
 * @throws Error with the file and the reason.
 */
export async function* readShapes(path: string): AsyncGenerator<Feature> {
  const encoding = (await partText(partOf(path, '.cpg'))).trim() || 'utf-8';
  const faults: unknown[] = [];
  try {
    const features = await open(
      source(partOf(path, '.shp'), faults), source(partOf(path, '.dbf'), faults), { encoding },
    );
    for (;;) {
      const { done, value } = await features.read();
      if (faults.length > 0) break;
      if (done) return;
      yield plainlyNamed(value);
    }
  } catch (error) {
    // What the library says of a stream that ended early is not why it did.
    if (faults.length === 0) throw fileError(path, error);
  }
  throw fileError(splitMember(path).file, faults[0]);
}
