/** A command line that cannot be understood: exit code 2, the message says what is accepted. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
