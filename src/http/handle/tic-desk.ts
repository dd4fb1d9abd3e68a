/** The product codes of the release that answers, with what is made of them once. */
import { readTics, TIC_DOCUMENT, TIC_WORDS_DOCUMENT } from '../../engine/tic-catalogue.js';
import { TicSearch } from '../../engine/tic-search.js';
import { ticListBytes } from '../../wire/tic-list.js';
import type { Format } from '../../wire/version.js';

/** Where the desk takes its codes from. */
export interface TicSource {
  /** Name of the release that answers; null when there is none. */
  release(): string | null;
  /** A document of that release; null when it lacks it. */
  document(name: string): unknown;
}

export interface TicPages {
  readonly search: TicSearch;
  readonly list: Readonly<Record<Format, Uint8Array>>;
}

/**
 * Making the index takes some ten milliseconds, so a release with the same codes as the one before
 * keeps it.
 */
export class TicDesk {
  readonly #source: TicSource;
  #release: string | null = null;
  #content = '';
  #pages: TicPages | null = null;

  constructor(source: TicSource) {
    this.#source = source;
  }

  /** Null when no release answers or it has no codes. */
  pages(): TicPages | null {
    const release = this.#source.release();
    if (release !== this.#release) {
      this.#take(release);
      this.#release = release;
    }
    return this.#pages;
  }

  #take(release: string | null): void {
    const read = (name: string): unknown => (release === null ? null : this.#source.document(name));
    const tics = readTics(read(TIC_DOCUMENT), read(TIC_WORDS_DOCUMENT));
    const content = JSON.stringify(tics);
    if (content === this.#content) return;
    this.#pages = tics.length === 0 ? null : {
      search: new TicSearch(tics),
      list: { json: ticListBytes(tics, 'json'), xml: ticListBytes(tics, 'xml') },
    };
    this.#content = content;
  }
}
