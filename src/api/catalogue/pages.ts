/** The product codes of the active release, with their index and catalogue, which are made once. */
import {
  type FoundTic,
  readTics,
  type Tic,
  TIC_DOCUMENT,
  TIC_WORDS_DOCUMENT,
  TicSearch,
} from '../../engine/product/tic-search.js';
import { type Log, messageOf } from '../../log.js';
import { currentText } from '../../wire/response-code.js';
import { type Format, jsonMembers, type WireObject } from '../../wire/tree.js';

/** Path of the JSON Schema of search answers. */
export const TIC_SEARCH_SCHEMA = '/schemas/ticsearch';

/** The dataset has no longer labels, so the title is used for each of them. */
function entry({ tic, title, parent }: Tic): WireObject {
  return { tic: { id: tic, parent, title, label: title, nl_title: title, nl_label: title } };
}

/** The whole catalogue as a flat list. */
export function ticListBytes(tics: readonly Tic[], format: Format): Uint8Array {
  return Buffer.from(currentText({ tic_list: tics.map(entry) }, format), 'utf8');
}

function result({ tic, score }: FoundTic, index: number): WireObject {
  return {
    tic: tic.tic,
    name: tic.title,
    ticId: Number(tic.tic),
    label: tic.title,
    naturalLabel: tic.title,
    description: tic.words,
    documentation: '',
    rank: index + 1,
    score,
  };
}

/** The answer to a search, best match first. All results are on one page. */
export function ticSearchBody(query: string, found: readonly FoundTic[], baseUrl: string): string {
  const members = {
    $schema: baseUrl + TIC_SEARCH_SCHEMA,
    query,
    nextCursor: null,
    results: found.map(result),
  };
  return `{${jsonMembers(members)}}`;
}

/** Where the product codes are read from. */
interface TicSource {
  /** Name of the active release; null when there is none. */
  release(): string | null;
  /** A document of that release; null when it has none of that name. */
  document(name: string): unknown;
}

export interface TicPages {
  readonly search: TicSearch;
  readonly list: Readonly<Record<Format, Uint8Array>>;
}

/**
 * Keeps the index and catalogue of the active release. Making the index takes about ten
 * milliseconds, so it is kept when the next release has the same codes.
 */
export class TicCatalogue {
  readonly #source: TicSource;
  #release: string | null = null;
  #content = '';
  #pages: TicPages | null = null;

  constructor(source: TicSource) {
    this.#source = source;
  }

  /** Null when no release is active or it has no product codes. */
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
    this.#pages =
      tics.length === 0
        ? null
        : {
            search: new TicSearch(tics),
            list: { json: ticListBytes(tics, 'json'), xml: ticListBytes(tics, 'xml') },
          };
    this.#content = content;
  }
}

/** The active release, as far as its product codes are concerned. */
interface LiveRelease {
  readonly release: { readonly id: string } | null;
  document(name: string): unknown;
}

/** Opens the product codes, and makes their index now, so that no request waits for it. */
export function openTics(live: LiveRelease, log: Log): TicCatalogue {
  const tics = new TicCatalogue({
    release: () => live.release?.id ?? null,
    document: (name) => live.document(name),
  });
  try {
    tics.pages();
  } catch (error) {
    log.error('product codes unreadable', { message: messageOf(error) });
  }
  return tics;
}
