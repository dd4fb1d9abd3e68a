/**
 * Waits for something that other threads or processes bring about. A machine may be so loaded that
 * nothing is as quick as it should be, so tests wait for a condition and never assert how soon it came.
 */
const STEP_MS = 5;
const WITHIN_MS = 120_000;

/** @throws Error when it has not come true in time. */
export async function eventually(
  condition: () => boolean | Promise<boolean>, withinMs = WITHIN_MS,
): Promise<void> {
  const from = performance.now();
  while (!await condition()) {
    if (performance.now() - from > withinMs) throw new Error(`not within ${withinMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, STEP_MS));
  }
}
