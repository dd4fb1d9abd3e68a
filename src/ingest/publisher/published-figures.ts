/**
 * Figures that are published on pages alone: they are held as facts, and the pages are asked
 * whether they still say them.
 */
import { pageText, textOf } from '../source/container.js';
import type { Source } from './catalogue.js';
import { type GetOptions, readPage } from './get.js';

/** A sentence on what a page no longer says. */
export interface Unsaid {
  readonly url: string;
  readonly expected: string;
}

/** What of a page's text no expression is found in; case does not count. */
export function unsaidIn(text: string, says: readonly string[]): readonly string[] {
  // Publishers change between quotes and dashes of every kind.
  const plain = text.replaceAll(/[’‘]/g, '\'').replaceAll(/[–—]/g, '-');
  return says.filter((expected) => !new RegExp(expected, 'i').test(plain));
}

/**
 * What the pages of a source no longer say.
 * @throws Error with the page's address and the reason where it cannot be got.
 */
export async function checkPages(source: Source, options: GetOptions): Promise<readonly Unsaid[]> {
  const unsaid: Unsaid[] = [];
  for (const { url, says } of source.pages ?? []) {
    try {
      const text = pageText(textOf(await readPage(url, options)));
      unsaid.push(...unsaidIn(text, says).map((expected) => ({ url, expected })));
    } catch (error) {
      throw new Error(`${url}: ${(error as Error).message}`, { cause: error });
    }
  }
  return unsaid;
}
