/** An operator's own layers: their files, and the boundaries beside these. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { FIVE_DIGITS } from '../../base/patterns.js';
import type { SourceFile } from '../../dataset/manifest.js';
import { fileSha256 } from '../../dataset/stamp.js';
import { createPolygon, type Position } from '../../geo/polygon.js';
import type { BoundaryFeature } from '../boundary/overlay.js';
import { formatDate } from '../rates/list.js';
import { datasetsDir } from '../source-files.js';
import { featuresOf, ringsOf } from '../source/boundary-file.js';
import { textOf } from '../source/container.js';
import { sheetText } from '../source/workbook.js';
import { type LayerRate, type LayerTable, readLayerTable } from './table.js';
import { LayerFaults } from './checked-cells.js';

const WORKBOOK = /\.xlsx$/i;
const TABLE = /\.(?:csv|xlsx)$/i;

/** Day 0 of workbooks, which wrongly count 29 February 1900. */
const WORKBOOK_EPOCH = Date.UTC(1899, 11, 30);
const DAY_MS = 86_400_000;

/** A layer that was read. */
export interface Layer extends LayerTable {
  /** The file's name without its ending. */
  readonly name: string;
  readonly file: string;
  readonly faults: LayerFaults;
  /** The table and boundary files that were read so far, as the manifest lists them. */
  readonly files: SourceFile[];
}

/** The text of a day that a workbook's cell gives as a number. */
export function workbookDay(text: string): string {
  return FIVE_DIGITS.test(text)
    ? new Date(WORKBOOK_EPOCH + Number(text) * DAY_MS).toISOString().slice(0, 10)
    : text;
}

/** The name of a layer in the manifest and in explanations. */
export function layerLabel(name: string): string {
  return `layer:${name}`;
}

/** The name of a layer for `hasLayer` and for people, with the date of its newest row. */
export function layerVersion({ name, asOf }: Layer): string {
  return `${layerLabel(name)}@${formatDate(asOf)}`;
}

function noteFile(name: string, file: string): SourceFile {
  return {
    path: `${layerLabel(name)}/${basename(file)}`,
    sha256: fileSha256(file),
    bytes: statSync(file).size,
  };
}

async function readLayer(file: string): Promise<Layer> {
  if (!existsSync(file)) throw new Error(`there is no layer ${file}`);
  if (!TABLE.test(file)) throw new Error(`${file}: a layer is a table, .csv or .xlsx`);
  const faults = new LayerFaults(basename(file));
  const isSheet = WORKBOOK.test(file);
  const text = isSheet ? await sheetText(file, null) : textOf(readFileSync(file));
  const name = basename(file).replace(TABLE, '');
  return {
    ...readLayerTable(text, faults, isSheet ? workbookDay : undefined),
    name,
    file,
    faults,
    files: [noteFile(name, file)],
  };
}

/** Layers in the project's own folder, which every build uses. */
function keptLayers(): readonly string[] {
  const folder = join(datasetsDir(), 'layers');
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => TABLE.test(name))
    .sort()
    .map((name) => join(folder, name));
}

/**
 * Reads the layers of datasets/layers and the given ones, in this order; where two disagree, the
 * later one counts.
 * @throws Error with every fault of a file: line, column and reason; also where two have the same
 * name.
 */
export async function readLayers(files: readonly string[]): Promise<readonly Layer[]> {
  const layers: Layer[] = [];
  for (const file of new Set([...keptLayers(), ...files.map((each) => resolve(each))])) {
    const layer = await readLayer(file);
    const twin = layers.find(({ name }) => name === layer.name);
    if (twin !== undefined) {
      throw new Error(`two layers are called ${layer.name}: ${twin.file} and ${file}`);
    }
    layers.push(layer);
  }
  return layers;
}

/**
 * The rings of one jurisdiction in a file: of features with its code, or of all if they have no
 * codes.
 */
async function ringsIn(
  file: string,
  code: string,
  needed: boolean,
): Promise<readonly (readonly Position[])[]> {
  const [own, all]: [(readonly Position[])[], (readonly Position[])[]] = [[], []];
  let hasCodes = false;
  for await (const { properties, geometry } of featuresOf({ path: file })) {
    const rings = ringsOf(geometry);
    all.push(...rings);
    if (properties?.['code'] === undefined || properties['code'] === null) continue;
    hasCodes = true;
    if (String(properties['code']) === code) own.push(...rings);
  }
  if (!hasCodes && needed) return all;
  return own;
}

/**
 * The boundary of a row: from its file, or from the GeoJSON file with the layer's name and a
 * feature of the code; null where there is neither. Faults are added to the row.
 */
export async function boundaryOf(
  layer: Layer,
  row: LayerRate,
  key: string,
  code: string,
): Promise<BoundaryFeature | null> {
  const folder = dirname(layer.file);
  const named = row.boundary !== '';
  const file = join(folder, named ? row.boundary : `${layer.name}.geojson`);
  const fault = (why: string): null => {
    layer.faults.add(row.line, 'boundary', why);
    return null;
  };
  if (!existsSync(file)) return named ? fault(`there is no file ${file}`) : null;
  try {
    const rings = await ringsIn(file, code, named);
    if (rings.length === 0) {
      return named ? fault(`${row.boundary} has no polygon of the code ${code}`) : null;
    }
    const polygon = createPolygon(key, rings);
    if (polygon === null) return fault(`${row.boundary} has no polygon of three corners`);
    const noted = noteFile(layer.name, file);
    if (!layer.files.some(({ path }) => path === noted.path)) layer.files.push(noted);
    return { polygon, properties: { NAME: row.name, NAMELSAD: row.name } };
  } catch (error) {
    return fault(`${basename(file)}: ${(error as Error).message}`);
  }
}

/** The form of a city's code. */
const PLACE = /^\d{7}$/;

/** Boundaries of cities that the layers draw, by code; for equal codes, the later layer counts. */
export async function layerCities(
  layers: readonly Layer[],
  stateFips: ReadonlyMap<string, string>,
): Promise<readonly BoundaryFeature[]> {
  const found = new Map<string, BoundaryFeature>();
  for (const layer of layers) {
    for (const row of layer.rates) {
      if (row.level !== 'city' || row.boundary === '') continue;
      if (!PLACE.test(row.code) || !row.code.startsWith(stateFips.get(row.state) ?? '-')) {
        layer.faults.add(
          row.line,
          'code',
          `"${row.code}" is no code of a city of ${row.state}: ` +
            "a city that is drawn needs its seven digits, the state's two first",
        );
        continue;
      }
      const feature = await boundaryOf(layer, row, row.code, row.code);
      if (feature !== null) found.set(row.code, feature);
    }
    layer.faults.settle();
  }
  return [...found.values()];
}
