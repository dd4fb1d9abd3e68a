/** Texts that are kept longer than what they came with. */

/**
 * A copy of a text, for what is kept. V8 holds a text that was cut out of another, or joined of
 * others, as a reference to those: one city could keep the whole file in memory that it came with.
 */
export function ownText(text: string): string {
  return ` ${text}`.slice(1);
}
