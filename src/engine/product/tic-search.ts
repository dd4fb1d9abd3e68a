/**
 * Ranked full-text search for Taxability Information Codes. Words are compared by their stems; a
 * word that no code has is taken as the beginning, or a misspelling, of others.
 */
import MiniSearch from 'minisearch';
import { stemmer } from 'stemmer';
import { withinOneTypo } from '../../address/typo.js';
import { isObject, type JsonObject } from '../../base/json-object.js';

// The Taxability Information Codes of a dataset, read from its documents.

/** Names of the documents: the codes, and everyday words for them. */
export const TIC_DOCUMENT = 'tic';
export const TIC_WORDS_DOCUMENT = 'tic-words';

export interface Tic {
  /** Five digits. */
  readonly tic: string;
  readonly title: string;
  /** The parent code; "" at the top. */
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

/** Reads the catalogue in the order of its table, without rows that lack a code or title. */
export function readTics(codes: unknown, words: unknown): readonly Tic[] {
  const everyday = new Map<string, string>();
  for (const row of rowsOf(words)) {
    const tic = textOf(row, 'tic');
    const [before, more] = [everyday.get(tic), textOf(row, 'words')];
    everyday.set(tic, before === undefined ? more : `${before}, ${more}`);
  }
  return rowsOf(codes).flatMap((row): Tic[] => {
    const tic = textOf(row, 'tic');
    const title = textOf(row, 'title');
    if (!CODE.test(tic) || title === '') return [];
    return [{ tic, title, parent: textOf(row, 'parent'), words: everyday.get(tic) ?? '' }];
  });
}

/** Most codes that a query finds, best first. */
export const FOUND_MAX = 20;

export interface FoundTic {
  readonly tic: Tic;
  /** From 0 to 1, higher is better; comparable between queries only roughly. */
  readonly score: number;
}

/** Most terms of a query that are searched for; further ones are ignored. */
const QUERY_TERMS_MAX = 12;
/**
 * Most unknown terms of a query that are treated as misspelt, since this takes most of the time.
 */
const SLIPS_MAX = 4;

/**
 * Weights of the fields. Digits of codes have a low one at their beginning, which groups only some
 * codes well.
 */
const BOOST = { title: 2, words: 2.5, above: 0.15, tic: 4 } as const;
/** A misspelt word or a beginning is worth less than the word itself. */
const WEIGHTS = { fuzzy: 0.5, prefix: 0.6 } as const;

/** Least letters of a word that may be a beginning, or have one or two typos. */
const PREFIX_LETTERS_MIN = 3;
const SLIP_LETTERS_MIN = 4;
const TWO_SLIPS_LETTERS_MIN = 8;

/**
 * Parameters of BM25. The small b is because a long list of everyday words is no disadvantage; the
 * others are usual.
 */
const BM25 = { k: 1.2, b: 0.3, d: 0.5 } as const;
/** Added to a score when the whole query is a title or an everyday word. */
const WHOLE_PHRASE = 1;
/** Added when the whole query is a complete title: "clothing" is the code of that name. */
const WHOLE_TITLE = 1;

/** The raw score that is reported as one half. */
const SCORE_HALF = 20;

interface Indexed {
  readonly id: number;
  readonly tic: string;
  readonly title: string;
  readonly words: string;
  readonly above: string;
}

/** How many typos are accepted in a term. */
function slips({ length }: string): number | false {
  if (length < SLIP_LETTERS_MIN) return false;
  return length < TWO_SLIPS_LETTERS_MIN ? 1 : 2;
}

function isSlip(
  known: ReadonlySet<string>,
  term: string,
  at: number,
  terms: readonly string[],
): boolean {
  if (known.has(term)) return false;
  return terms.slice(0, at).filter((before) => !known.has(before)).length < SLIPS_MAX;
}

function phrasesOf({ title, words }: Tic): readonly (readonly string[])[] {
  return [title, ...words.split(',')]
    .map((phrase) => termsOf(phrase))
    .filter(({ length }) => length > 0);
}

export class TicSearch {
  readonly #tics: readonly Tic[];
  /** Titles and everyday words of each code, as terms. */
  readonly #phrases: readonly (readonly (readonly string[])[])[];
  readonly #titles: readonly (readonly string[])[];
  readonly #vocabulary = new Set<string>();
  /**
   * Terms by the words of codes. Words are needed because a typo in an ending results in another
   * stem.
   */
  readonly #words = new Map<string, string>();
  readonly #index: MiniSearch<Indexed>;

  constructor(tics: readonly Tic[]) {
    this.#tics = tics;
    this.#phrases = tics.map(phrasesOf);
    this.#titles = tics.map(({ title }) => termsOf(title));
    const known = this.#vocabulary;
    this.#index = new MiniSearch<Indexed>({
      fields: Object.keys(BOOST),
      tokenize: wordsOf,
      processTerm: (word) => {
        const term = termOf(word);
        if (term === null) return null;
        known.add(term);
        this.#words.set(word, term);
        return term;
      },
      searchOptions: {
        boost: BOOST,
        bm25: BM25,
        weights: WEIGHTS,
        tokenize: (text) => text.split(' '),
        processTerm: (term) => term,
        prefix: (term) => term.length >= PREFIX_LETTERS_MIN && !known.has(term),
        fuzzy: (term, at, terms) => (isSlip(known, term, at, terms) ? slips(term) : false),
      },
    });
    const titles = new Map(tics.map(({ tic, title }) => [tic, title]));
    this.#index.addAll(
      tics.map(
        ({ tic, title, parent, words }, id): Indexed => ({
          id,
          tic,
          title,
          words,
          above: titles.get(parent) ?? '',
        }),
      ),
    );
  }

  /** The codes that a description finds, best first; among equals, the lower code comes first. */
  find(query: string): readonly FoundTic[] {
    const terms = termsOf(query, QUERY_TERMS_MAX);
    const found = this.#ranked(terms);
    return found.length > 0 ? found : this.#ranked(this.#respelt(query));
  }

  #ranked(terms: readonly string[]): readonly FoundTic[] {
    if (terms.length === 0) return [];
    const asked = new Set(terms);
    const ranked = this.#index.search(terms.join(' ')).map(({ id, score, queryTerms }) => {
      const at = Number(id);
      // Codes that match more terms of the query come before those that match one term well.
      const share = queryTerms.length / terms.length;
      const named =
        WHOLE_PHRASE * this.#phraseShare(at, asked) + (this.#isTitle(at, asked) ? WHOLE_TITLE : 0);
      return { at, raw: score * share * (1 + named) };
    });
    ranked.sort((one, other) => other.raw - one.raw || one.at - other.at);
    return ranked.slice(0, FOUND_MAX).flatMap(({ at, raw }) => {
      const tic = this.#tics[at];
      return tic === undefined ? [] : [{ tic, score: raw / (raw + SCORE_HALF) }];
    });
  }

  /** Terms of words that differ by one typo from words of a query. */
  #respelt(query: string): readonly string[] {
    const words = [...new Set(wordsOf(query))].filter(({ length }) => length >= SLIP_LETTERS_MIN);
    const terms = words
      .slice(0, SLIPS_MAX)
      .flatMap((word) =>
        [...this.#words].flatMap(([other, term]) => (withinOneTypo(word, other) ? [term] : [])),
      );
    return [...new Set(terms)].slice(0, QUERY_TERMS_MAX);
  }

  #isTitle(at: number, asked: ReadonlySet<string>): boolean {
    const title = this.#titles[at];
    return title?.length === asked.size && title.every((term) => asked.has(term));
  }

  /** The share of a query that the longest phrase of a code within it makes up. */
  #phraseShare(at: number, asked: ReadonlySet<string>): number {
    let longest = 0;
    for (const phrase of this.#phrases[at] ?? []) {
      if (phrase.length > longest && phrase.every((term) => asked.has(term))) {
        longest = phrase.length;
      }
    }
    return longest / asked.size;
  }
}

const NOT_A_WORD = /[^\p{L}\p{N}]+/u;
const POSSESSIVE = /['\u2019]s?\b/gu;
const ACCENT = /\p{M}/gu;
/** "e-book" and "t-shirt" are one word. */
const LETTER_HYPHEN = /\b(\p{L})-(?=\p{L})/gu;

/**
 * Words that say nothing about a product. `without` is kept, because some codes differ only by it.
 */
const FILLER: ReadonlySet<string> = new Set(
  (
    'a an and any are as at be but by for from has have i in is it its my new of on only or ' +
    'our some such than that the their them these this to used which with you your'
  ).split(' '),
);

/** Least letters of a word that is a term. */
const LETTERS_MIN = 2;

/** The words of a text. */
function wordsOf(text: string): string[] {
  return text
    .toLowerCase()
    .normalize('NFKD')
    .replace(ACCENT, '')
    .replace(POSSESSIVE, '')
    .replace(LETTER_HYPHEN, '$1')
    .split(NOT_A_WORD);
}

/** The term of a word; null for a filler word. */
function termOf(word: string): string | null {
  if (word.length < LETTERS_MIN || FILLER.has(word)) return null;
  return stemmer(word);
}

/** The different terms of a text, at most `max`. */
function termsOf(text: string, max = Infinity): readonly string[] {
  const terms = new Set<string>();
  for (const word of wordsOf(text)) {
    const term = termOf(word);
    if (term !== null) terms.add(term);
    if (terms.size === max) break;
  }
  return [...terms];
}
