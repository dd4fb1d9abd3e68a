/**
 * Follows a fleet on one of its nodes: reads the place's document each second and when notified,
 * prepares the releases that may become active, answers with the active one, and reports failures.
 */
import type { LiveDataset, LiveRelease } from '../dataset/live.js';
import { activateRelease, UnsoundRelease } from '../dataset/release.js';
import { type Log, messageOf } from '../log.js';
import { type FleetStatus, NodeReporter, type Place, type Unprepared } from './fleet-place.js';
import { removeUnwanted } from './pull.js';
import { type FleetState, type Offer, parseState, wantedOf } from './state.js';

const POLL_MS = 1_000;
/** Wait before a release that could not be prepared is tried again; it doubles each time. */
const AGAIN_MS = 2_000;
const AGAIN_MS_MAX = 30_000;
const TOLD_MS = 5_000;

/** Gets a release into the folder of datasets. */
type PullRelease = (
  offer: Offer,
  signal: AbortSignal,
  pulled: (done: number, total: number) => void,
) => Promise<void>;

interface FollowerOptions {
  readonly place: Place;
  readonly live: LiveDataset;
  readonly varDir: string;
  readonly log: Log;
  readonly pull: PullRelease;
  /** Public keys, one of whose holders must have signed a release; none where it need not be. */
  readonly signedBy: readonly string[];
  /** The name of this node in the fleet. */
  readonly node: string;
  readonly program: string;
}

interface Failure extends Unprepared {
  /** The list of pieces that failed. After another push, the release is tried again at once. */
  readonly list: string;
  readonly againMs: number;
  /**
   * When it is tried again, on the clock of `performance`; infinite where that would be in vain.
   */
  readonly at: number;
}

interface Preparing {
  readonly dataset: string;
  readonly end: AbortController;
  readonly done: Promise<void>;
}

export class Follower {
  readonly #options: FollowerOptions;
  readonly #reporter: NodeReporter;
  readonly #stopped = new AbortController();
  #state: FleetState | null = null;
  #version: string | null = null;
  /** Null before the place was first asked. */
  #reached: boolean | null = null;
  #said = '';
  /** Releases that are kept open because the fleet may switch to them. */
  readonly #held = new Map<string, LiveRelease>();
  readonly #failures = new Map<string, Failure>();
  #preparing: Preparing | null = null;
  #wake: () => void = () => undefined;
  #running: Promise<void> = Promise.resolve();

  constructor(options: FollowerOptions) {
    this.#options = options;
    this.#reporter = new NodeReporter(options.place.nodes, options.log);
  }

  /** Begins to follow. */
  start(): void {
    this.#running = this.#run();
  }

  get status(): FleetStatus {
    const active = this.#state?.active ?? null;
    const release = this.#options.live.release?.id ?? null;
    return {
      reached: this.#reached === true,
      active,
      follows: this.#reached !== null && (active === null || active === release),
      prepared: this.#prepared,
      problem: this.#problem,
    };
  }

  /** Stops following. A pull under way is ended, and continues at the next start. */
  async stop(): Promise<void> {
    const { live, place, node } = this.#options;
    this.#stopped.abort();
    this.#preparing?.end.abort();
    await this.#reporter.leave(node);
    // Closing the place ends all waiting for its answers.
    await place.close().catch(() => undefined);
    this.#wake();
    await this.#running;
    await this.#preparing?.done;
    for (const release of this.#held.values()) live.unpin(release);
    this.#held.clear();
  }

  get #prepared(): readonly string[] {
    const release = this.#options.live.release?.id;
    return [...new Set([...(release === undefined ? [] : [release]), ...this.#held.keys()])];
  }

  /** A problem with the active release comes before others. */
  get #problem(): Unprepared | null {
    for (const { dataset } of this.#wanted) {
      const failure = this.#failures.get(dataset);
      if (failure !== undefined) return { dataset, reason: failure.reason };
    }
    return null;
  }

  async #run(): Promise<void> {
    const { place } = this.#options;
    await place.watch(() => this.#wake());
    while (!this.#stopped.signal.aborted) {
      const woken = new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      await this.#look();
      const timer = setTimeout(() => this.#wake(), POLL_MS);
      await woken;
      clearTimeout(timer);
    }
  }

  async #look(): Promise<void> {
    const { place, live, node, program } = this.#options;
    try {
      const found = await place.read(this.#version);
      if (found !== 'same') this.#changed(found === null ? null : found);
      this.#tellReached();
    } catch (error) {
      if (!this.#stopped.signal.aborted) this.#tellUnreached(messageOf(error));
    }
    if (this.#stopped.signal.aborted) return;
    this.#follow();
    this.#prepare();
    this.#reporter.told({
      node,
      program,
      dataset: live.release?.id ?? null,
      prepared: this.#prepared,
      problem: this.#problem,
    });
  }

  #changed(found: { readonly text: string; readonly version: string } | null): void {
    const { place, varDir, live, log } = this.#options;
    if (found === null) {
      // Without any push yet there is nothing to follow. A document that has vanished is an error.
      if (this.#state === null) return;
      throw new Error(`${place.name} holds no state of a fleet any more`);
    }
    const before = this.#state?.active ?? null;
    this.#state = parseState(found.text, place.name);
    this.#version = found.version === '' ? null : found.version;
    const { active } = this.#state;
    if (active !== before) log.info('active for the fleet', { dataset: active, before });
    const wanted = this.#wanted;
    for (const [name, release] of this.#held) {
      if (wanted.some(({ dataset }) => dataset === name)) continue;
      this.#held.delete(name);
      live.unpin(release);
    }
    for (const [name, { list }] of this.#failures) {
      if (!wanted.some((offer) => offer.dataset === name && offer.list === list)) {
        this.#failures.delete(name);
      }
    }
    const under = this.#preparing;
    if (!wanted.some(({ dataset }) => dataset === under?.dataset)) under?.end.abort();
    removeUnwanted(
      varDir,
      wanted.map(({ dataset }) => dataset),
    );
  }

  get #wanted(): readonly Offer[] {
    return this.#state === null ? [] : wantedOf(this.#state);
  }

  /** Answers with the release that is active for the fleet, once it is prepared. */
  #follow(): void {
    const { live, varDir, log } = this.#options;
    const active = this.#state?.active ?? null;
    if (active === null || live.release?.id === active || !this.#held.has(active)) return;
    try {
      activateRelease(varDir, active);
      live.check();
    } catch (error) {
      log.error('dataset not activated', { dataset: active, message: messageOf(error) });
    }
  }

  /** Prepares the next wanted release. Ends another's preparation where this is the active one. */
  #prepare(): void {
    const next = this.#wanted.find(
      ({ dataset }) => !this.#held.has(dataset) && this.#isDue(dataset),
    );
    if (next === undefined) return;
    const { active = null } = this.#state ?? {};
    if (this.#preparing === null) {
      const end = new AbortController();
      this.#preparing = { dataset: next.dataset, end, done: this.#begin(next, end.signal) };
    } else if (next.dataset === active && this.#preparing.dataset !== active) {
      this.#preparing.end.abort();
    }
  }

  #isDue(dataset: string): boolean {
    const failure = this.#failures.get(dataset);
    return failure === undefined || performance.now() >= failure.at;
  }

  async #begin(offer: Offer, signal: AbortSignal): Promise<void> {
    const { dataset } = offer;
    try {
      const release = await this.#ready(offer, signal);
      this.#failures.delete(dataset);
      // The preparation was cancelled meanwhile, so the release is not needed.
      if (signal.aborted) return this.#options.live.unpin(release);
      this.#held.set(dataset, release);
      this.#options.log.info('dataset prepared for the fleet', { dataset });
    } catch (error) {
      if (!signal.aborted) this.#failed(offer, error);
    } finally {
      this.#preparing = null;
      this.#wake();
    }
  }

  /** Opens a release. Pulls it first where it is missing here, or may not be used as it is. */
  async #ready(offer: Offer, signal: AbortSignal): Promise<LiveRelease> {
    const { live, pull, signedBy, log } = this.#options;
    const { dataset } = offer;
    const here = await live.borrow(dataset).catch((error: unknown) => {
      if (error instanceof UnsoundRelease) return null;
      throw error;
    });
    if (here !== null) return here;
    if (signedBy.length > 0 && !offer.signedBy.some((key) => signedBy.includes(key))) {
      throw new UnsoundRelease(
        `${dataset} is signed with none of the keys that are asked for ` +
          '(SITUS_REQUIRE_SIGNATURE)',
      );
    }
    let told = performance.now();
    log.info('dataset being pulled', { dataset, bytes: offer.bytes });
    await pull(offer, signal, (done, total) => {
      if (performance.now() - told < TOLD_MS) return;
      told = performance.now();
      log.info('dataset being pulled', { dataset, done, total });
    });
    const pulled = await live.borrow(dataset);
    if (pulled !== null) return pulled;
    throw new Error(`${dataset} was pulled and is not there`);
  }

  #failed({ dataset, list }: Offer, error: unknown): void {
    const { log } = this.#options;
    const reason = messageOf(error);
    const before = this.#failures.get(dataset);
    const next = before === undefined ? AGAIN_MS : Math.min(before.againMs * 2, AGAIN_MS_MAX);
    const at = error instanceof UnsoundRelease ? Infinity : performance.now() + next;
    this.#failures.set(dataset, { dataset, reason, list, againMs: next, at });
    if (before?.reason !== reason) log.error('dataset not prepared', { dataset, message: reason });
  }

  #tellReached(): void {
    const { log, place } = this.#options;
    if (this.#reached === false) log.info('place of datasets reached again', { place: place.name });
    this.#reached = true;
    this.#said = '';
  }

  #tellUnreached(message: string): void {
    const { log, live, place } = this.#options;
    if (this.#reached !== false || this.#said !== message) {
      log.warn('place of datasets not reached', {
        place: place.name,
        message,
        dataset: live.release?.id ?? null,
      });
    }
    this.#reached = false;
    this.#said = message;
  }
}
