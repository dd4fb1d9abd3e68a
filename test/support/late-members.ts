/**
 * Finds objects whose members are added after a spread, in compiled code, and how often a process
 * made them.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A bracket that is open, with what its content has had so far. */
interface Open {
  readonly at: number;
  readonly bracket: string;
  hasSpread: boolean;
  isLate: boolean;
}

/** What is no code: comments, strings, pieces of templates, and regular expressions. */
const COMMENT = /\/\/.*|\/\*[\s\S]*?\*\//y;
const STRING = /"(?:\\[\s\S]|[^"\\])*"|'(?:\\[\s\S]|[^'\\])*'/y;
const PIECE = /(?:\\[\s\S]|\$(?!\{)|[^`\\$])*(?:`|\$\{)/y;
const PATTERN = /\/(?:\\.|\[(?:\\.|[^\]\\])*\]|[^/\\[\n])+\//y;
const BEFORE_PATTERN = /[=(,:;!&|?{}[>\n]\s*$|\breturn\s*$/;
const LOOK_BACK = 12;

function matchAt(pattern: RegExp, code: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(code) ? pattern.lastIndex : at;
}

class Scan {
  readonly late: number[] = [];
  readonly #code: string;
  readonly #open: Open[] = [];
  #begins = false;

  constructor(code: string) {
    this.#code = code;
    for (let at = 0; at < code.length; at = this.#next(at));
  }

  #next(at: number): number {
    const char = this.#code[at]!;
    if (/\s/.test(char)) return at + 1;
    const comment = matchAt(COMMENT, this.#code, at);
    if (comment > at) return comment;
    if (this.#begins && !'}])'.includes(char)) this.#element(at);
    this.#begins = char === ',';
    const passed = this.#literal(char, at);
    if (passed > at) return passed;
    if (char === '`') return this.#template(at + 1);
    if ('{[('.includes(char)) {
      this.#open.push({ at, bracket: char, hasSpread: false, isLate: false });
      this.#begins = true;
    } else if ('}])'.includes(char) && this.#open.pop()?.bracket === '${') {
      return this.#template(at + 1);
    }
    return at + 1;
  }

  /** The end of a string or regular expression; the place itself where there is none. */
  #literal(char: string, at: number): number {
    if (char === '"' || char === "'") return matchAt(STRING, this.#code, at);
    const before = this.#code.slice(Math.max(0, at - LOOK_BACK), at);
    return char === '/' && BEFORE_PATTERN.test(before) ? matchAt(PATTERN, this.#code, at) : at;
  }

  #element(at: number): void {
    const open = this.#open.at(-1);
    if (open?.bracket !== '{') return;
    if (open.hasSpread && !open.isLate) {
      open.isLate = true;
      this.late.push(open.at);
    }
    if (this.#code.startsWith('...', at)) open.hasSpread = true;
  }

  #template(at: number): number {
    const end = matchAt(PIECE, this.#code, at);
    if (this.#code[end - 1] === '{') {
      this.#open.push({ at, bracket: '${', hasSpread: false, isLate: false });
    }
    return end;
  }
}

/** Where such objects begin. Destructuring has its rest last, and is never one. */
export function lateMembers(code: string): readonly number[] {
  return new Scan(code).late;
}

interface Range {
  readonly startOffset: number;
  readonly endOffset: number;
  readonly count: number;
}

interface Script {
  readonly url: string;
  readonly functions: readonly { readonly ranges: readonly Range[] }[];
}

const SHOWN = 100;
/** Where packages lie. A whole run keeps the service itself in a folder below. */
const PACKAGES = /\/node_modules\/(?!\.cache\/)/;

/** How often a process made each, by its text, from what NODE_V8_COVERAGE wrote to a folder. */
export function madeObjects(folder: string): ReadonlyMap<string, number> {
  const made = new Map<string, number>();
  for (const name of readdirSync(folder)) {
    const { result } = JSON.parse(readFileSync(join(folder, name), 'utf8')) as { result: Script[] };
    for (const { url, functions } of result) {
      if (!url.startsWith('file:') || PACKAGES.test(url)) continue;
      const code = readFileSync(fileURLToPath(url), 'utf8');
      const ranges = functions.flatMap((each) => each.ranges);
      for (const at of lateMembers(code)) {
        const around = ranges.filter(
          ({ startOffset, endOffset }) => startOffset <= at && at < endOffset,
        );
        const [inner] = around.sort(
          (a, b) => a.endOffset - a.startOffset - b.endOffset + b.startOffset,
        );
        const text = code.slice(at, at + SHOWN).replaceAll(/\s+/g, ' ');
        made.set(text, (made.get(text) ?? 0) + (inner?.count ?? 0));
      }
    }
  }
  return made;
}
