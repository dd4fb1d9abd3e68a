/** An operator's own layers: which files they are, and the boundaries that lie beside them. */
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

/** The first day that workbooks count from is the day before 1900-01-00: 1900 was no leap year. */
const WORKBOOK_EPOCH = Date.UTC(1899, 11, 30);
const DAY_MS = 86_400_000;

/** A layer as read. */
export interface Layer extends LayerTable {
  /** The file's name without its ending. */
  readonly name: string;
  readonly file: string;
  readonly faults: LayerFaults;
  /** The table and the boundary files read so far, as the manifest names them. */
  readonly files: SourceFile[];
}

/** The day that a cell of a workbook counts, written out. */
export function workbookDay(text: string): string {
  return FIVE_DIGITS.test(text)
    ? new Date(WORKBOOK_EPOCH + Number(text) * DAY_MS).toISOString().slice(0, 10)
    : text;
}

/** What the manifest and explanations call a layer. */
export function layerLabel(name: string): string {
  return `layer:${name}`;
}

/** What `hasLayer` and people know it by: with the day its newest row is as of. */
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

/** Tables of the project's folder of layers, which every build takes. */
function keptLayers(): readonly string[] {
  const folder = join(datasetsDir(), 'layers');
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => TABLE.test(name))
    .sort()
    .map((name) => join(folder, name));
}

/**
 * Reads the layers of datasets/layers and those named, in this order: of two that say otherwise the
 * later holds.
 * @throws Error with every fault of a file: line, column, reason; also where two have one name.
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

/** Features of a file that are of one jurisdiction: those with its code, or all without codes. */
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
 * The boundary of a row by its file, or by the GeoJSON file of the layer's own name with a feature
 * of the code; null where there is neither. What is wrong is noted.
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

/** Digits of a city's code. */
const PLACE = /^\d{7}$/;

/** Boundaries of cities that the layers draw, by code; of a code in two layers the later one's. */
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
