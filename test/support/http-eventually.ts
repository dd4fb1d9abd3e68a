/** Waits for something that other threads or processes bring about. */
const STEP_MS = 5;

/** Resolves with the milliseconds it took. @throws Error when it has not come true in time. */
export async function eventually(
  condition: () => boolean | Promise<boolean>, withinMs = 5_000,
): Promise<number> {
  const from = performance.now();
  while (!await condition()) {
    if (performance.now() - from > withinMs) throw new Error(`not within ${withinMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, STEP_MS));
  }
  return performance.now() - from;
}
