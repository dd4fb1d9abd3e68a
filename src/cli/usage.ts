/** A command line that cannot be understood: exit code 2, the message says what is accepted. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/**
 * Refuses words beyond the `taken` first ones, which would be ignored.
 * @throws UsageError that names the first of them.
 */
export function refuseExtra(words: readonly string[], taken: number): void {
  const extra = words[taken];
  if (extra === undefined) return;
  throw new UsageError(`"${extra}" is one word too many; --help tells what the command takes`);
}

/** Whether help is asked for; not by what follows `--`. */
export function asksHelp(args: readonly string[]): boolean {
  const end = args.indexOf('--');
  return args.slice(0, end < 0 ? args.length : end)
    .some((word) => word === '--help' || word === '-h');
}
