/** The real catalogue, read from the facts as a dataset holds it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readTics, type Tic } from '../../src/engine/product/tic-search.js';
import { packageRoot } from '../../src/ingest/source-files.js';
import { splitRows } from '../../src/ingest/source/rows.js';

/** A fact table as the document it becomes. */
export function factRows(name: string): readonly Readonly<Record<string, string>>[] {
  const text = readFileSync(join(packageRoot(), 'datasets', 'facts', name), 'utf8');
  const [header = [], ...rows] = splitRows(text, '\t');
  return rows.map((cells) =>
    Object.fromEntries(header.map((column, at) => [column, cells[at] ?? ''])));
}

/** All codes, with everyday words or without. */
export function realTics(words = true): readonly Tic[] {
  return readTics(factRows('tic.tsv'), words ? factRows('tic_words.tsv') : null);
}
