/** What one account, or one address, may not pass. */

/**
 * Thrown inside a transaction, which it undoes: nothing of the write is kept. The message is for
 * the caller of the API.
 */
export class LimitReached extends Error {
  override readonly name = 'LimitReached';
  /** As stated: bytes or a number. */
  readonly limit: number;

  constructor(message: string, limit: number) {
    super(message);
    this.limit = limit;
  }
}
