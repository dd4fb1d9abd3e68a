/** The releases of one worker. */

const RELEASES_PER_WORKER = 2;

/** The releases a worker has open: the two that tasks named, the older one closes for a third. */
export class OpenReleases<T extends { close(): void }> {
  readonly #open: (dir: string) => T;
  readonly #byId = new Map<string, T>();

  constructor(open: (dir: string) => T) {
    this.#open = open;
  }

  /** Tasks of one worker run one after the other, so none is using what is closed here. */
  get({ id, dir }: { readonly id: string; readonly dir: string }): T {
    let opened = this.#byId.get(id);
    if (opened !== undefined) return opened;
    opened = this.#open(dir);
    const [oldest] = this.#byId;
    if (oldest !== undefined && this.#byId.size === RELEASES_PER_WORKER) {
      this.#byId.delete(oldest[0]);
      oldest[1].close();
    }
    this.#byId.set(id, opened);
    return opened;
  }
}
