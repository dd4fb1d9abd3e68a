/** An open dataset, as the engine reads it. All reads are synchronous. */
import type {
  AreaRecord,
  CityRecord,
  ComponentRecord,
  SourceRecord,
  StateRecord,
  ZipRecord,
} from './records.js';
import type { CellIndex } from './cell-index.js';
import type { StreetIndex } from './street-index.js';

export interface Dataset {
  /** "2026-11-21-1a2b3c4d5e6f" */
  readonly id: string;
  /** Tells whether a layer is loaded, e.g. "places:CA", "streets", "towns:VT". */
  hasLayer(name: string): boolean;
  area(id: number): AreaRecord;
  component(id: number): ComponentRecord;
  source(id: number): SourceRecord;
  states(): readonly StateRecord[];
  state(code: string): StateRecord | null;
  zip(zip: number): ZipRecord | null;
  /** By two-letter state and the city's name in capitals without punctuation. */
  city(state: string, name: string): CityRecord | null;
  /** A whole document by name, e.g. "tic", "meal-tax"; null when the dataset lacks it. */
  document(name: string): unknown;
  readonly cells: CellIndex;
  readonly streets: StreetIndex;
  close(): void;
}
