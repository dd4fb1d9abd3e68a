/** The description of a release, which is manifest.json beside the data. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { jsonFile } from '../base/json-object.js';
import type { SourceRecord } from './records.js';

/** Raised with every change of keys or records. A release with another version is refused. */
export const FORMAT_VERSION = 3;

export const MANIFEST_FILE = 'manifest.json';
export const DATA_FILE = 'data.mdb';
/** Most readers of one release at a time; every worker and process that has it open counts. */
export const READERS_MAX = 512;
/** The file beside the data in which LMDB registers readers, and its size for all of them. */
export const LOCK_FILE = `${DATA_FILE}-lock`;
export const LOCK_BYTES = (READERS_MAX + 8) * 64;
/** The file with the SHA-256 of the data file, so that damage is found before LMDB maps it. */
export const CHECKSUM_FILE = 'data.sha256';

export interface SourceFile {
  /** Path below the folder of sources, in the repository or in an npm package. */
  readonly path: string;
  readonly sha256: string;
  readonly bytes: number;
}

/** How well the rates of one level of one state are known. */
export interface CoverageLevel {
  readonly level: string;
  /** complete, partial, none, or not-levied */
  readonly completeness: string;
  readonly source: string;
  /** YYYY-MM-DD; empty when there is no list. */
  readonly asOf: string;
  /**
   * Last day that the list was published for, YYYY-MM-DD; empty where no newer list is expected.
   */
  readonly until: string;
  readonly jurisdictions: number;
  /**
   * By source, how many jurisdictions of the level have rates from its list that held when it was
   * published, or later ones. Absent where there is no list.
   */
  readonly lists?: Readonly<Record<string, number>>;
}

/** What a state's own boundary file contains, and where it contradicts the boundaries. */
export interface StateFileCoverage {
  /** The last day of any record, YYYY-MM-DD; empty where records have no end. */
  readonly until: string;
  /** Number of records that lead to a tax area: of address ranges, ZIP+4s and ZIPs. */
  readonly ranges: number;
  readonly zip9: number;
  readonly zip5: number;
  /**
   * Doors in its address ranges on the day of the release, and how many of them it places
   * elsewhere.
   */
  readonly doors: number;
  readonly doorsElsewhere: number;
  /**
   * ZIPs that it names, and those for which it names areas that the boundaries do not have there.
   */
  readonly zips: number;
  readonly zipsElsewhere: number;
}

export interface CoverageState {
  readonly state: string;
  readonly name: string;
  readonly levels: readonly CoverageLevel[];
  readonly placeBoundaries: boolean;
  readonly addressPoints: number;
  /** Absent where there is no boundary file. */
  readonly stateFile?: StateFileCoverage;
  readonly gaps: readonly string[];
}

/** A doubt about what a release says; kinds and severities: ingest/findings. */
export interface Finding {
  readonly kind: string;
  readonly place: string;
  readonly figures: string;
  readonly severity: 'error' | 'warning';
}

export interface Manifest {
  readonly format: number;
  /** SHA-256 of the ordered keys and values of every table, and of this manifest without the id. */
  readonly id: string;
  readonly recipe: string;
  /** Newest as-of date of any source, YYYY-MM-DD; the first part of the release's name. */
  readonly asOf: string;
  /** SHA-256 of the ordered keys and values alone. */
  readonly dataSha256: string;
  readonly sources: readonly SourceRecord[];
  /** Every file the release was built from. */
  readonly files: readonly SourceFile[];
  /** "places:CA", "towns:VT", "streets", … */
  readonly layers: readonly string[];
  /** Records per table. */
  readonly counts: Readonly<Record<string, number>>;
  readonly coverage: readonly CoverageState[];
  /** Doubts that the build found and the records do not show; absent where there are none. */
  readonly findings?: readonly Finding[];
}

/** The name of a release, which is also its folder's: the date and twelve digits of the id. */
export function releaseName(manifest: Pick<Manifest, 'asOf' | 'id'>): string {
  return `${manifest.asOf}-${manifest.id.slice(0, 12)}`;
}

/** The id: a hash of the data's hash and the manifest without its id. */
export function manifestId(manifest: Omit<Manifest, 'id'>): string {
  return createHash('sha256')
    .update(manifest.dataSha256)
    .update(JSON.stringify(manifest))
    .digest('hex');
}

/**
 * Why this version of Situs cannot read the release in a folder, as the end of a sentence. Null
 * where the format is right, or no manifest can be read.
 */
export function formatProblem(dir: string): string | null {
  const { format } = (jsonFile(join(dir, MANIFEST_FILE)) ?? {}) as Partial<Manifest>;
  if (typeof format !== 'number' || format === FORMAT_VERSION) return null;
  return (
    `was built by ${format < FORMAT_VERSION ? 'an older' : 'a newer'} version of Situs ` +
    `(format ${format}) and cannot be read by this one (format ${FORMAT_VERSION}).`
  );
}

/**
 * Reads and checks a release's manifest.
 * @throws Error naming the folder when it is missing, unreadable or of another format.
 */
export function readManifest(dir: string): Manifest {
  let manifest: Manifest;
  try {
    manifest = JSON.parse(readFileSync(join(dir, MANIFEST_FILE), 'utf8')) as Manifest;
  } catch (error) {
    throw new Error(`no readable dataset in ${dir}: ${(error as Error).message}`);
  }
  if (manifest.format !== FORMAT_VERSION) {
    throw new Error(
      `dataset ${dir} has format ${manifest.format}, this version reads ${FORMAT_VERSION}; ` +
        'build it again with: npx situs dataset build',
    );
  }
  return manifest;
}
