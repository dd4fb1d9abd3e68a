/** The releases of one worker. */
import type { Dataset } from './dataset.js';

const RELEASES_PER_WORKER = 2;

/** The releases a worker has open: the two that tasks named, the older one closes for a third. */
export class OpenReleases {
  readonly #open: (dir: string) => Dataset;
  readonly #byId = new Map<string, Dataset>();

  constructor(open: (dir: string) => Dataset) {
    this.#open = open;
  }

  /** Tasks of one worker run one after the other, so none is using what is closed here. */
  get({ id, dir }: { readonly id: string; readonly dir: string }): Dataset {
    let dataset = this.#byId.get(id);
    if (dataset !== undefined) return dataset;
    dataset = this.#open(dir);
    const [oldest] = this.#byId;
    if (oldest !== undefined && this.#byId.size === RELEASES_PER_WORKER) {
      this.#byId.delete(oldest[0]);
      oldest[1].close();
    }
    this.#byId.set(id, dataset);
    return dataset;
  }
}
