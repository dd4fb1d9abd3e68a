/** Single lookups that are sent at a steady rate while something else is tested. */
import { BENCH_KEY } from '../load/situs-server.js';

const LOOKUPS = 200;
const EACH_MS = 50;
const PATIENCE_MS = 120_000;
const FAULTS_TOLD_MAX = 10;

/** A lookup and its first answer. */
interface Known {
  readonly path: string;
  readonly status: number;
  readonly text: string;
}

interface Body {
  readonly metadata: { readonly response: { readonly code: number } };
  readonly taxSummaries?: readonly { readonly rate: number; readonly taxType: string }[];
  readonly addressDetail?: { readonly normalizedAddress: string };
}

/** Code, rates and address of an answer, in the form of a row. */
function toldBy(text: string): string {
  const { metadata, taxSummaries = [], addressDetail } = JSON.parse(text) as Body;
  const rate = (type: string): string =>
    String(taxSummaries.find(({ taxType }) => taxType === type)?.rate ?? '');
  const {
    response: { code },
  } = metadata;
  return [code, rate('SALES_TAX'), rate('USE_TAX'), addressDetail?.normalizedAddress ?? ''].join(
    '|',
  );
}

export class SideLookups {
  sent = 0;
  answered = 0;
  /** How many milliseconds the slowest answer took. */
  slowest = 0;
  readonly wrong: string[] = [];
  readonly #base: string;
  readonly #known: readonly Known[];
  readonly #pending = new Set<Promise<void>>();
  readonly #timer: NodeJS.Timeout;

  private constructor(base: string, known: readonly Known[]) {
    this.#base = base;
    this.#known = known;
    this.#timer = setInterval(() => this.#send(), EACH_MS);
  }

  /** Sends each query once, and then all of them again and again until `end`. */
  static async begin(port: number, queries: readonly string[]): Promise<SideLookups> {
    const base = `http://127.0.0.1:${port}`;
    const known: Known[] = [];
    for (const query of queries.slice(0, LOOKUPS)) {
      const path = `/request/v60?${query}`;
      known.push({ path, ...(await ask(base + path)) });
    }
    return new SideLookups(base, known);
  }

  /** Code, rates and address of the first answers, in the order of the queries. */
  get told(): readonly string[] {
    return this.#known.map(({ text }) => toldBy(text));
  }

  /** Sends no more, and waits for lookups under way. */
  async end(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all(this.#pending);
    if (this.answered < this.sent) this.#fault(`${this.sent - this.answered} were not answered`);
  }

  #fault(text: string): void {
    if (this.wrong.length < FAULTS_TOLD_MAX) this.wrong.push(`lookups: ${text}`);
  }

  #send(): void {
    const known = this.#known[this.sent % this.#known.length]!;
    this.sent += 1;
    const asked = this.#compare(known).finally(() => this.#pending.delete(asked));
    this.#pending.add(asked);
  }

  async #compare({ path, status, text }: Known): Promise<void> {
    const from = performance.now();
    try {
      const answer = await ask(this.#base + path);
      this.answered += 1;
      this.slowest = Math.max(this.slowest, performance.now() - from);
      if (answer.status !== status || answer.text !== text) {
        this.#fault(`${path} was answered ${answer.status} ${answer.text}`);
      }
    } catch (error) {
      this.#fault(`${path}: ${String(error)}`);
    }
  }
}

async function ask(url: string): Promise<{ readonly status: number; readonly text: string }> {
  const answer = await fetch(url, {
    headers: { 'X-API-KEY': BENCH_KEY },
    signal: AbortSignal.timeout(PATIENCE_MS),
  });
  return { status: answer.status, text: await answer.text() };
}
