/** The Taxability Information Codes of a dataset, read from its documents. */
import { isObject, type JsonObject } from '../../base/json-object.js';

/** Names of the documents: the codes, and everyday words for them. */
export const TIC_DOCUMENT = 'tic';
export const TIC_WORDS_DOCUMENT = 'tic-words';

export interface Tic {
  /** Five digits. */
  readonly tic: string;
  readonly title: string;
  /** The code above; empty at the top. */
  readonly parent: string;
  /** Everyday words, separated by commas; empty where there are none. */
  readonly words: string;
}

const CODE = /^[0-9]{5}$/;

function textOf(row: JsonObject, column: string): string {
  const value = row[column];
  return typeof value === 'string' ? value.trim() : '';
}

/** The rows of a table document; a dataset without it has none. */
function rowsOf(document: unknown): readonly JsonObject[] {
  return Array.isArray(document) ? document.filter(isObject) : [];
}

/** Reads the catalogue in the order of its table. Rows without code or title are left out. */
export function readTics(codes: unknown, words: unknown): readonly Tic[] {
  const everyday = new Map<string, string>();
  for (const row of rowsOf(words)) {
    const tic = textOf(row, 'tic');
    const before = everyday.get(tic);
    const more = textOf(row, 'words');
    everyday.set(tic, before === undefined ? more : `${before}, ${more}`);
  }
  return rowsOf(codes).flatMap((row): Tic[] => {
    const tic = textOf(row, 'tic');
    const title = textOf(row, 'title');
    if (!CODE.test(tic) || title === '') return [];
    return [{ tic, title, parent: textOf(row, 'parent'), words: everyday.get(tic) ?? '' }];
  });
}
