/** What a release says of itself. Kept as manifest.json beside the data. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { jsonFile } from '../base/json-object.js';
import type { SourceRecord } from './records.js';

/** Raised with every change of keys or records; an older or newer release is refused. */
export const FORMAT_VERSION = 3;

export const MANIFEST_FILE = 'manifest.json';
export const DATA_FILE = 'data.mdb';
/** Readers of one release: every worker and process that has it open takes a slot. */
export const READERS_MAX = 512;
/** The file beside the data in which LMDB keeps these slots, and bytes that hold them all. */
export const LOCK_FILE = `${DATA_FILE}-lock`;
export const LOCK_BYTES = (READERS_MAX + 8) * 64;
/** SHA-256 of the data file as written: tells a damaged file before LMDB maps it. */
export const CHECKSUM_FILE = 'data.sha256';

export interface SourceFile {
  /** Path below the sources folder, the repository or an npm package. */
  readonly path: string;
  readonly sha256: string;
  readonly bytes: number;
}

/** How well one level of one state is known. */
export interface CoverageLevel {
  readonly level: string;
  /** complete, partial, none, or not-levied */
  readonly completeness: string;
  readonly source: string;
  /** YYYY-MM-DD, empty when no list is held. */
  readonly asOf: string;
  /** Last day the list was published for, YYYY-MM-DD; empty while no newer one is expected. */
  readonly until: string;
  readonly jurisdictions: number;
  /**
   * Jurisdictions by the source of each list of the level, of rates that held when it was
   * published, or later ones; absent where none is held.
   */
  readonly lists?: Readonly<Record<string, number>>;
}

/** What a state's own boundary file has, and where it lies elsewhere than the boundaries. */
export interface StateFileCoverage {
  /** The last day of any record, YYYY-MM-DD; empty where they are open. */
  readonly until: string;
  /** Records that lead to a tax area: address ranges, ZIP+4s, ZIPs. */
  readonly ranges: number;
  readonly zip9: number;
  readonly zip5: number;
  /** Doors that its address ranges hold on the day of the release; those that it has elsewhere. */
  readonly doors: number;
  readonly doorsElsewhere: number;
  /** ZIPs that it names; those in which it names what the boundaries do not have there. */
  readonly zips: number;
  readonly zipsElsewhere: number;
}

export interface CoverageState {
  readonly state: string;
  readonly name: string;
  readonly levels: readonly CoverageLevel[];
  readonly placeBoundaries: boolean;
  readonly addressPoints: number;
  /** Absent where none is held. */
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
  /** SHA-256 over the ordered keys and values of every table and this manifest without the id. */
  readonly id: string;
  readonly recipe: string;
  /** Newest as-of date of any source, YYYY-MM-DD; first part of the folder's name. */
  readonly asOf: string;
  /** SHA-256 over the ordered keys and values alone. */
  readonly dataSha256: string;
  readonly sources: readonly SourceRecord[];
  /** Every file the release was built from. */
  readonly files: readonly SourceFile[];
  /** "places:CA", "towns:VT", "streets", … */
  readonly layers: readonly string[];
  /** Records per table. */
  readonly counts: Readonly<Record<string, number>>;
  readonly coverage: readonly CoverageState[];
  /** What the build found that the records do not show; absent where it found nothing. */
  readonly findings?: readonly Finding[];
}

/** The folder name of a release: date and the first twelve digits of the id. */
export function releaseName(manifest: Pick<Manifest, 'asOf' | 'id'>): string {
  return `${manifest.asOf}-${manifest.id.slice(0, 12)}`;
}

/** The id: the data's hash together with the manifest without its id. */
export function manifestId(manifest: Omit<Manifest, 'id'>): string {
  return createHash('sha256')
    .update(manifest.dataSha256)
    .update(JSON.stringify(manifest))
    .digest('hex');
}

/**
 * Why this version of Situs does not read the release in a folder, as the end of a sentence; null
 * where its format is the right one, or where no manifest can be read.
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
