/** The release that answers the messages of a stream, and the moment that today is told from. */
import type { PinnedRelease, ReleaseSource } from '../../pool.js';

/** A kept release that a stream was opened with. */
export interface KeptStream {
  /** Pinned once, for the stream. */
  readonly release: PinnedRelease;
  /** Milliseconds since 1970; null for the moment of each message. */
  readonly atMs: number | null;
}

/** The release that is active when it is pinned, or one that is kept open with a stream. */
export class SessionRelease implements ReleaseSource {
  readonly #releases: ReleaseSource;
  readonly #now: () => number;
  readonly #kept: KeptStream | null;
  #users = 0;
  #over = false;

  constructor(
    { releases, now }: { readonly releases: ReleaseSource; readonly now: () => number },
    kept: KeptStream | null,
  ) {
    this.#releases = releases;
    this.#now = now;
    this.#kept = kept;
  }

  pin(): PinnedRelease | null {
    if (this.#kept === null) return this.#releases.pin();
    this.#users += 1;
    return this.#kept.release;
  }

  unpin(release: PinnedRelease): void {
    if (this.#kept === null) return this.#releases.unpin(release);
    this.#users -= 1;
    this.#letGo();
  }

  /** Name of the release that answers now; "" without one. */
  get id(): string {
    const release = this.pin();
    if (release !== null) this.unpin(release);
    return release?.id ?? '';
  }

  /** The moment that today is told from, in milliseconds since 1970. */
  get nowMs(): number {
    return this.#kept?.atMs ?? this.#now();
  }

  /** The stream is over; what its workers have is answered with the release still. */
  close(): void {
    if (this.#over) return;
    this.#over = true;
    this.#letGo();
  }

  #letGo(): void {
    if (this.#kept !== null && this.#over && this.#users === 0) {
      this.#releases.unpin(this.#kept.release);
    }
  }
}
