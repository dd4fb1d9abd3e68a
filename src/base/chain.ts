/**
 * Many that wait together, each for a short while, in the order they came. Whoever is added gets a
 * link by which it goes again: a map or a set would look for it by a hash, and grow and shrink all
 * the time.
 */

/** The place of one that waits. */
export class Link<T> {
  readonly item: T;
  #chain: Chain<T> | null;
  before: Link<T> | null;
  behind: Link<T> | null = null;

  constructor(item: T, chain: Chain<T>, before: Link<T> | null) {
    this.item = item;
    this.#chain = chain;
    this.before = before;
  }

  /** Leaves; once more does nothing. */
  remove(): void {
    const chain = this.#chain;
    if (chain === null) return;
    this.#chain = null;
    chain.unlink(this);
  }
}

export class Chain<T> {
  first: Link<T> | null = null;
  #last: Link<T> | null = null;

  /** Adds one behind all others. */
  add(item: T): Link<T> {
    const link = new Link(item, this, this.#last);
    if (this.#last === null) this.first = link;
    else this.#last.behind = link;
    this.#last = link;
    return link;
  }

  /** Told by a link that leaves, once. */
  unlink({ before, behind }: Link<T>): void {
    if (before === null) this.first = behind;
    else before.behind = behind;
    if (behind === null) this.#last = before;
    else behind.before = before;
  }
}
