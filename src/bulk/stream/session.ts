/**
 * One stream of messages: those received, those with the workers, and answers to send. It outlives
 * its connection: another one may resume it with the token and the number of its last answer.
 * Answers have the order of messages; a chunk is answered from the release active when it leaves.
 */
import type { PinnedRelease, RowsRequest } from '../../pool/types.js';
import { fail } from '../../failure.js';
import { NO_COUNTS } from '../../store/usage-meter.js';
import type { RowsAdmission } from '../../store/usage-rows.js';
import {
  datasetLine,
  streamHeaderLine,
  trailerLine,
  type Trailer,
  type Stopped,
} from '../row/envelope.js';
import type { ChunkSource } from '../run/schedule.js';
import { RunTotals } from '../run/run-totals.js';
import { Flights, groupOf, type MessageClass } from './message-chunk.js';
import {
  CHUNK_MESSAGES_MAX,
  type CloseName,
  CLOSES,
  type Closing,
  OVER_CREDITS,
  type SessionOptions,
  SessionRelease,
  type SessionServices,
  STREAM_LIMITS,
  type StreamLink,
  UNSENT_BYTES_MAX,
} from './session-options.js';
import { AnswerBacklog, Inbox, type Message, readClientLine } from './backlog.js';
import { QUOTA_SPENT } from '../run/pump-options.js';
import { NO_RATES } from '../run/request.js';

const QUOTA = fail('feature-not-enabled', QUOTA_SPENT);

export class StreamSession implements ChunkSource {
  readonly options: SessionOptions;
  readonly #services: SessionServices;
  readonly #release: SessionRelease;
  readonly #inbox = new Inbox();
  readonly #outbox = new AnswerBacklog();
  readonly #totals = new RunTotals();
  readonly #flights = new Flights();
  #link: StreamLink | null = null;
  #blocked = false;
  /** Id of the release that the connection was told last. */
  #told = '';
  /** Whether the client sends no more messages. */
  #ending = false;
  #stopped: Stopped | null = null;
  #closing: Closing = CLOSES.complete;
  #end: Trailer | null = null;
  #forgotten = false;

  constructor(options: SessionOptions, services: SessionServices) {
    this.options = options;
    this.#services = services;
    this.#release = new SessionRelease(services, options.kept);
  }

  get attached(): boolean {
    return this.#link !== null;
  }

  /** Id of the release that answers now; "" without one. */
  get dataset(): string {
    return this.#release.id;
  }

  /** Whether all answers are made, so that only sending is left. */
  get over(): boolean {
    return this.#end !== null;
  }

  /** Whether nothing can be done until the client sends or takes something. */
  get waiting(): boolean {
    return this.#blocked || (this.#flights.count === 0 && this.#inbox.waiting === 0);
  }

  get hasRoom(): boolean {
    return !this.deaf && this.#inbox.hasRoom;
  }

  /** Whether lines of the client are ignored from now on. */
  get deaf(): boolean {
    return this.#stopped !== null || this.#ending || this.#forgotten;
  }

  /** Why a connection cannot resume after the answer `from`; null where it can. */
  cannotResume(from: number): 'beyond' | 'forgotten' | null {
    if (from > this.#outbox.written) return 'beyond';
    return this.#outbox.canResume(from) ? null : 'forgotten';
  }

  /** Goes on over a new connection and ends the one before it. */
  attach(link: StreamLink, from: number): void {
    const before = this.#link;
    this.#link = link;
    before?.close(CLOSES.resumed);
    this.#blocked = false;
    this.#outbox.rewind(from);
    this.#told = this.#release.id;
    const { name, token } = this.options;
    this.#send(
      link,
      streamHeaderLine({
        name,
        dataset: this.#told,
        resume: token,
        received: this.#inbox.received,
        limits: { ...STREAM_LIMITS, ...this.#services.limits },
      }),
    );
    this.#turn();
  }

  /** Tells that a connection has ended. */
  detach(link: StreamLink): void {
    if (this.#link === link) this.#link = null;
  }

  /** Takes a line, which is not copied. A client that `waits` may exceed its credits by one. */
  receive(line: Buffer, waits = false): void {
    if (this.deaf) return;
    const read = readClientLine(line);
    if (read.kind === 'ack') this.#outbox.acknowledge(read.seq);
    else if (read.kind === 'batch-too-long') {
      this.stop('policy', `A batch may have ${STREAM_LIMITS.batch} messages.`);
    } else if (read.kind === 'end') this.endInput();
    else {
      this.#inbox.add(read.messages, read.batch);
      if (waits || this.#inbox.isWithin) this.#turn();
      else this.stop('credits', OVER_CREDITS);
    }
  }

  /** Tells that the client sends no more: what came is answered, then the stream ends. */
  endInput(): void {
    this.#ending = true;
    this.#turn();
  }

  /** Tells that the connection can take lines again. */
  drained(): void {
    this.#blocked = false;
    this.#turn();
  }

  /** Ends the stream after the messages that workers have; the trailer names the next one. */
  stop(name: CloseName, message: string): void {
    if (this.#stopped !== null || this.#end !== null) return;
    const [next] = this.#inbox.peek(1);
    this.#halt(name, message, next?.seq ?? this.#inbox.received + 1);
    this.#turn();
  }

  /** Frees everything; nothing is sent any more. */
  forget(): void {
    this.#forgotten = true;
    this.#services.schedule.leave(this);
    this.#release.close();
    const link = this.#link;
    this.#link = null;
    link?.close(CLOSES.stopping);
  }

  watch(now: number): void {
    this.#link?.watch(now);
  }

  next(): RowsRequest | null {
    if (!this.#mayTake()) return null;
    const { usage, findMerchant } = this.#services;
    const key = this.options.key();
    if (key === null) {
      this.stop('key', 'The key is not usable any more.');
      return null;
    }
    const release = this.#release.pin();
    if (release === null) {
      this.stop('unavailable', NO_RATES);
      return null;
    }
    const { messages, kind } = groupOf(this.#inbox.peek(CHUNK_MESSAGES_MAX), key, findMerchant);
    const { merchant, refusal } = kind;
    if (refusal !== null) return this.#request(messages, kind, release, null);
    const admission = usage.admitRows(key, messages.length, merchant);
    if (admission.scarce && this.#flights.busy) {
      usage.settleRows(admission, NO_COUNTS);
      this.#release.unpin(release);
      return null;
    }
    const { rows } = admission;
    if (rows > 0) return this.#request(messages.slice(0, rows), kind, release, admission);
    usage.settleRows(admission, NO_COUNTS);
    const first = messages[0]!;
    const refused = this.#request([first], { merchant, refusal: QUOTA }, release, null);
    this.#halt('quota', `${QUOTA_SPENT}.`, first.seq + 1);
    return refused;
  }

  #halt(name: CloseName, message: string, line: number): void {
    this.#closing = CLOSES[name];
    this.#stopped = { code: this.#closing.code, message, line };
    this.#inbox.drop();
  }

  #mayTake(): boolean {
    const { waiting } = this.#inbox;
    if (waiting === 0 || this.#forgotten || this.#outbox.unsentBytes >= UNSENT_BYTES_MAX) {
      return false;
    }
    return this.#flights.hasPlace(waiting);
  }

  #request(
    messages: readonly Message[],
    kind: MessageClass,
    release: PinnedRelease,
    admission: RowsAdmission | null,
  ): RowsRequest {
    this.#inbox.take(messages.length);
    const options = { ...kind, name: this.options.name, release, nowMs: this.#release.nowMs };
    return this.#flights.request(messages, admission?.grants ?? 0, options, (tally, failure) => {
      if (admission !== null) this.#services.usage.settleRows(admission, tally ?? NO_COUNTS);
      this.#release.unpin(release);
      if (failure === 'overloaded') this.#closing = CLOSES.unavailable;
      this.#turn();
    });
  }

  /** Does whatever can be done now. */
  #turn(): void {
    if (this.#forgotten) return;
    this.#collect();
    const done =
      this.#flights.count === 0 &&
      (this.#stopped !== null || (this.#ending && this.#inbox.waiting === 0));
    if (done && this.#end === null) {
      this.#outbox.endBatch(this.#told);
      this.#end = this.#totals.end(this.#stopped);
      this.#services.schedule.leave(this);
    }
    this.#flush();
    if (this.#mayTake()) this.#services.schedule.ready(this);
    this.#link?.room(this.hasRoom || this.#stopped !== null);
  }

  /** Takes answered chunks in order. */
  #collect(): void {
    for (;;) {
      const flight = this.#flights.landed();
      if (flight === null) return;
      const { messages, dataset, output, tally, lost } = flight;
      if (lost || output === null || tally === null) return this.#break(messages[0]?.seq ?? 0);
      this.#totals.add(tally);
      this.#totals.write(output);
      this.#outbox.add(messages, output, dataset);
    }
  }

  /** Ends the stream because a chunk is lost, so that nothing after it can be answered in order. */
  #break(seq: number): void {
    this.#flights.clear();
    this.#halt(
      this.#closing === CLOSES.unavailable ? 'unavailable' : 'fault',
      'Messages from this one on were not answered.',
      seq,
    );
  }

  #flush(): void {
    const link = this.#link;
    if (link === null || this.#blocked) return;
    if (!this.#outbox.pending && this.#end === null) return;
    link.together(() => {
      while (!this.#blocked && this.#link === link) {
        const answers = this.#outbox.next();
        if (answers === null) break;
        if (answers.dataset !== this.#told) {
          this.#told = answers.dataset;
          this.#send(link, datasetLine(answers.dataset, answers.first));
        }
        this.#send(link, answers.bytes);
      }
    });
    this.#inbox.answered(this.#outbox.written);
    if (this.#end === null || this.#blocked || this.#outbox.pending || this.#link !== link) return;
    this.#link = null;
    link.send(trailerLine(this.options.name, this.#end));
    link.close(this.#closing);
  }

  #send(link: StreamLink, line: Uint8Array): void {
    if (!link.send(line)) this.#blocked = true;
  }
}
