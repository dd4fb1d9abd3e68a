/** Where the parts of a shapefile lie, and whether its coordinates are degrees. */
import { existsSync, readFileSync } from 'node:fs';
import { fileError, hasMember, splitMember, zipMember } from './zip.js';

const ZIP = /\.zip$/i;
const SHP = /\.shp$/i;

/** A part of a shapefile by its ending: a path of its own, or of the archive's member. */
export function partOf(path: string, ending: string): string {
  const { file, member } = splitMember(path);
  if (!ZIP.test(file)) return file.replace(SHP, ending);
  return `${file}!${member === null ? `*${ending}` : member.replace(SHP, ending)}`;
}

/** Text of a small part; "" where there is none. */
export async function partText(path: string): Promise<string> {
  const { file, member } = splitMember(path);
  if (member === null) return existsSync(path) ? readFileSync(path, 'latin1') : '';
  if (!await hasMember(file, member)) return '';
  let text = '';
  for await (const chunk of zipMember(file, member)) text += chunk.toString('latin1');
  return text;
}

/**
 * For readers of lines, which are published in degrees.
 * @throws Error where coordinates are metres or feet of a projection: they would lie anywhere.
 */
export async function checkDegrees(path: string): Promise<void> {
  const [, projection] = /^\s*PROJCS\["([^"]*)"/.exec(await partText(partOf(path, '.prj'))) ?? [];
  if (projection === undefined) return;
  throw fileError(path, `its coordinates are those of ${projection}, not degrees; `
    + 'convert it to EPSG:4326 or take the publisher\'s file in degrees');
}

/** Whether a path is a shapefile's. */
export function isShapes(path: string): boolean {
  const { file, member } = splitMember(path);
  return SHP.test(member ?? file) || (ZIP.test(file) && member === null);
}
