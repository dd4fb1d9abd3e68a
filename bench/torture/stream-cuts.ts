/**
 * Streams whose connection is cut at random points and resumed must give the answers of an uncut
 * stream.
 */
import { createHash } from 'node:crypto';
import { buildRecipe } from '../../test/support/built-dataset.js';
import { seeded } from '../case/case.js';
import { BENCH_KEY, startSitus } from '../load/situs-server.js';
import { StreamClient, wasRefused, type StreamAsk } from '../load/stream-client.js';

/** Most messages between two cuts. */
const STRETCH = 60;
const UNANSWERED_MAX = 200;
const ACKNOWLEDGE_EVERY = 16;

interface CutsInput {
  readonly port: number;
  readonly key: string;
  readonly cuts: number;
  readonly seed: number;
  readonly report: (line: string) => void;
}

interface CutsResult {
  readonly cuts: number;
  readonly messages: number;
  /** How many answers came more than once. */
  readonly repeated: number;
  /** The faults, in one sentence each. */
  readonly wrong: readonly string[];
}

interface Trailer {
  readonly complete: boolean;
  readonly rows: number;
  readonly sha256: string;
}

type Random = () => number;

function placeAt(door: number): object {
  return { line1: `${door} Main St`, city: 'Elmton', state: 'QA', zip: '91010' };
}

/** A lookup by address or ZIP, a cart, or a message that is wrong. */
function messageOf(id: number, random: Random): object | string {
  const door = 100 + 2 * Math.floor(random() * 40);
  const kind = random();
  if (kind < 0.3) return { id, address: `${door} Main St, Elmton, QA 91010` };
  if (kind < 0.5) return { id, postalcode: '91020' };
  if (kind < 0.6) return { id, lat: 'x' };
  return {
    id,
    items: [
      {
        cartId: `cart-${id}`,
        customerId: 'c',
        currency: {},
        origin: placeAt(120),
        destination: placeAt(door),
        lineItems: Array.from({ length: 5 }, (_, index) => ({
          index,
          itemId: `sku-${index}`,
          price: Math.floor(random() * 10_000) / 100,
          quantity: 1,
        })),
      },
    ],
  };
}

/** Frames with one message or a batch of several. */
function framesOf(count: number, random: Random): readonly (readonly string[])[] {
  const frames: string[][] = [];
  for (let id = 0; id < count; ) {
    const size = random() < 0.7 ? 1 : 2 + Math.floor(random() * 8);
    const frame: string[] = [];
    while (frame.length < size && id < count) frame.push(JSON.stringify(messageOf(id++, random)));
    frames.push(frame);
  }
  return frames;
}

/** A client that resumes: the frames to send, and the answers so far. */
class Resuming {
  readonly answers = new Map<number, string>();
  readonly wrong: string[] = [];
  repeated = 0;
  trailer: Trailer | null = null;
  token = '';
  received = 0;
  readonly #frames: readonly (readonly string[])[];
  #sent = 0;

  constructor(frames: readonly (readonly string[])[]) {
    this.#frames = frames;
  }

  /** How many answers have come, without a gap. */
  get have(): number {
    return this.answers.size;
  }

  /** Takes a line; false at the trailer. */
  take(line: string): boolean {
    const parsed = JSON.parse(line) as
      | {
          readonly header?: { readonly resume: string; readonly received: number };
          readonly trailer?: Trailer;
          readonly dataset?: object;
          readonly seq?: number;
        }
      | readonly { readonly seq: number }[];
    if (Array.isArray(parsed)) {
      for (const answer of parsed as readonly { readonly seq: number }[]) {
        this.#keep(answer.seq, JSON.stringify(answer));
      }
    } else if ('header' in parsed && parsed.header !== undefined) {
      this.token = parsed.header.resume;
      this.received = this.#sent = parsed.header.received;
    } else if ('trailer' in parsed && parsed.trailer !== undefined) {
      this.trailer = parsed.trailer;
      return false;
    } else if ('seq' in parsed && parsed.seq !== undefined) this.#keep(parsed.seq, line);
    return true;
  }

  /** The next frame to send, after the messages that the server has received. */
  frame(): string | null {
    if (this.#sent - this.have >= UNANSWERED_MAX) return null;
    let before = 0;
    for (const frame of this.#frames) {
      if (before + frame.length > this.#sent) {
        // A batch of which only a part was received cannot occur: a frame is received completely or
        // not at all.
        if (before !== this.#sent) this.wrong.push(`frame of ${before + 1} came in part`);
        this.#sent = before + frame.length;
        return frame.length === 1 ? (frame[0] ?? '') : `[${frame.join(',')}]`;
      }
      before += frame.length;
    }
    return null;
  }

  get done(): boolean {
    return this.#sent >= this.#frames.reduce((sum, { length }) => sum + length, 0);
  }

  #keep(seq: number, text: string): void {
    const known = this.answers.get(seq);
    if (known !== undefined) {
      this.repeated += 1;
      if (known !== text) this.wrong.push(`answer ${seq} changed when it was sent again`);
    } else if (seq !== this.have + 1) this.wrong.push(`answer ${seq} after ${this.have}`);
    else this.answers.set(seq, text);
  }
}

/**
 * Runs one connection until its cut after so many answers, or to the end; returns whether the
 * stream is over.
 */
async function connection(
  ask: StreamAsk,
  state: Resuming,
  cutAfter: number | null,
  waits: boolean,
): Promise<boolean> {
  const opened = await StreamClient.open(ask);
  if (wasRefused(opened)) {
    state.wrong.push(`refused with ${opened.status}: ${opened.body}`);
    return true;
  }
  const first = await opened.next();
  if (first === null || !state.take(first)) return false;
  const until = cutAfter === null ? null : state.have + cutAfter;
  let ended = false;
  for (;;) {
    for (let frame = state.frame(); frame !== null; frame = state.frame()) opened.send(frame);
    if (state.done && !ended && until === null) {
      ended = true;
      opened.finish();
    }
    if (until !== null && (state.have >= until || state.done)) {
      opened.cut();
      // In half of the cases the server has not noticed the cut when the next connection comes.
      if (waits) await opened.ended;
      return false;
    }
    const line = await opened.next();
    if (line === null) return false;
    const before = state.have;
    if (!state.take(line)) break;
    if (Math.floor(state.have / ACKNOWLEDGE_EVERY) > Math.floor(before / ACKNOWLEDGE_EVERY)) {
      opened.send(`{"ack":${state.have}}`);
    }
  }
  await opened.ended;
  return true;
}

async function wholeRun(
  { port, key }: CutsInput,
  frames: readonly (readonly string[])[],
): Promise<Resuming> {
  const state = new Resuming(frames);
  await connection({ port, key, transport: 'socket' }, state, null, true);
  return state;
}

function digestOf(answers: ReadonlyMap<number, string>): string {
  const hash = createHash('sha256');
  for (const text of answers.values()) hash.update(`${text}\n`);
  return hash.digest('hex');
}

function compare(whole: Resuming, cut: Resuming, messages: number): readonly string[] {
  const wrong = [...whole.wrong, ...cut.wrong];
  if (whole.have !== messages) wrong.push(`undisturbed: ${whole.have} answers of ${messages}`);
  if (cut.have !== messages) wrong.push(`cut: ${cut.have} answers of ${messages}`);
  for (const [seq, text] of whole.answers) {
    if (cut.answers.get(seq) !== text) wrong.push(`answer ${seq} differs`);
  }
  for (const { trailer, answers } of [whole, cut]) {
    if (trailer?.complete !== true || trailer.rows !== messages) wrong.push('no whole trailer');
    else if (trailer.sha256 !== digestOf(answers)) wrong.push('the digest is another one');
  }
  return wrong;
}

/** Cuts one stream `cuts` times, over both transports at random. */
export async function cutStream(input: CutsInput): Promise<CutsResult> {
  const { port, key, cuts, seed, report } = input;
  const random = seeded(seed);
  const messages = Math.ceil(cuts * STRETCH * 0.6) + STRETCH;
  const frames = framesOf(messages, random);
  const whole = await wholeRun(input, frames);
  const state = new Resuming(frames);
  let made = 0;
  for (let over = false; !over && state.wrong.length === 0; ) {
    const transport = random() < 0.5 ? 'socket' : 'post';
    const query = state.token === '' ? '' : `?resume=${state.token}&from=${state.have}`;
    const last = made >= cuts;
    over = await connection(
      { port, key, transport, query },
      state,
      last ? null : Math.floor(random() * STRETCH),
      random() < 0.5,
    );
    if (!last) made += 1;
    if (made % 50 === 0) report(`${made} cuts, ${state.have} of ${messages} answers`);
  }
  return { cuts: made, messages, repeated: state.repeated, wrong: compare(whole, state, messages) };
}

/** The case of `npm run torture`, with a server over the invented country. */
export async function streamCuts(
  cuts: number,
  seed: number,
  report: (line: string) => void,
): Promise<CutsResult> {
  const built = buildRecipe('fixture');
  const server = await startSitus(built.varDir);
  try {
    return await cutStream({ port: server.port, key: BENCH_KEY, cuts, seed, report });
  } finally {
    await server.stop();
    built.remove();
  }
}
