/** Progress of rows: on a terminal a bar with rows a second and the time left, elsewhere lines. */
import type { Output } from '../ingest/progress.js';

const BAR_COLUMNS = 24;
const TERMINAL_MS = 250;
const LINES_MS = 10_000;

/** How far a run is. */
interface Reached {
  readonly rows: number;
  readonly bytes: number;
  /** A further remark, such as "3 refused". */
  readonly more?: string;
}

/** Seconds as "1:02:03". */
function clock(seconds: number): string {
  const [hours, rest] = [Math.floor(seconds / 3600), Math.floor(seconds) % 3600];
  const minutes = String(Math.floor(rest / 60)).padStart(hours > 0 ? 2 : 1, '0');
  const time = `${minutes}:${String(rest % 60).padStart(2, '0')}`;
  return hours > 0 ? `${hours}:${time}` : time;
}

export class RowsProgress {
  readonly #output: Output;
  readonly #reached: () => Reached;
  /** Bytes of the whole input; null where they are not known. */
  readonly #bytes: number | null;
  readonly #begin: Reached;
  readonly #now: () => number;
  readonly #since: number;
  readonly #timer: NodeJS.Timeout;

  constructor(
    output: Output,
    bytes: number | null,
    reached: () => Reached,
    now = (): number => Date.now(),
  ) {
    this.#output = output;
    this.#bytes = bytes;
    this.#reached = reached;
    this.#begin = reached();
    this.#now = now;
    this.#since = now();
    const each = output.isTTY === true ? TERMINAL_MS : LINES_MS;
    this.#timer = setInterval(() => this.show(), each).unref();
  }

  /** Writes the present state. */
  show(): void {
    const text = this.line();
    this.#output.write(this.#output.isTTY === true ? `\r${text}\u001b[K` : `${text}\n`);
  }

  /** The bar, as "###..... 37 %  120,000 rows  41,000 rows/s  0:05 left". */
  line(): string {
    const { rows, bytes, more = '' } = this.#reached();
    const seconds = Math.max(this.#now() - this.#since, 1) / 1000;
    const speed = Math.round((rows - this.#begin.rows) / seconds);
    const told = `${rows.toLocaleString('en')} rows  ${speed.toLocaleString('en')} rows/s${more}`;
    if (this.#bytes === null || this.#bytes === 0) return told;
    const share = Math.min(1, bytes / this.#bytes);
    const filled = Math.round(share * BAR_COLUMNS);
    const bar = '#'.repeat(filled) + '.'.repeat(BAR_COLUMNS - filled);
    const moved = bytes - this.#begin.bytes;
    const left = moved > 0 ? clock(((this.#bytes - bytes) / moved) * seconds) : '?';
    return `${bar} ${String(Math.floor(share * 100)).padStart(3)} %  ${told}  ${left} left`;
  }

  /** Stops writing; a bar stays on the terminal. */
  end(): void {
    clearInterval(this.#timer);
    if (this.#output.isTTY !== true) return;
    this.show();
    this.#output.write('\n');
  }
}
