/** Rows of a ZIP that no reader could tell apart are one row. */
import type { AreaRecord, ZipPart, ZipRecord } from '../dataset/records.js';

/** What a row shows of its area: everything but the code of the place and the area's number. */
function faceOf(part: ZipPart, areas: readonly AreaRecord[]): string {
  const area = areas[part.area]!;
  return JSON.stringify([part.city, area.state, area.countyFips, area.components, area.unknown,
    area.staleAfter, area.estimated]);
}

/** Merges such parts; the first one stays, with the shares of both. */
export function mergeParts(
  zips: readonly ZipRecord[], areas: readonly AreaRecord[],
): readonly ZipRecord[] {
  return zips.map((zip) => {
    const faces = new Map<string, ZipPart>();
    for (const part of zip.parts) {
      const face = faceOf(part, areas);
      const known = faces.get(face);
      const weight = known?.weight == null || part.weight === null
        ? known?.weight ?? part.weight : known.weight + part.weight;
      faces.set(face, { ...(known ?? part), weight });
    }
    return faces.size === zip.parts.length ? zip : { ...zip, parts: [...faces.values()] };
  });
}
