/**
 * A list of waiting items in the order they came, each of which stays for a short while. Whoever
 * adds an item gets a link to remove it by: a map or a set would look it up by a hash, and grow and
 * shrink all the time.
 */

/** The place of one item in its chain. */
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

  /** Removes the item; a second call does nothing. */
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

  /** Adds an item at the end. */
  add(item: T): Link<T> {
    const link = new Link(item, this, this.#last);
    if (this.#last === null) this.first = link;
    else this.#last.behind = link;
    this.#last = link;
    return link;
  }

  /** Called by a link once, when its item is removed. */
  unlink({ before, behind }: Link<T>): void {
    if (before === null) this.first = behind;
    else before.behind = behind;
    if (behind === null) this.#last = before;
    else behind.before = before;
  }
}
