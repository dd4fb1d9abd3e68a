/**
 * Waits for something that other threads or processes bring about. A machine may be so loaded that
 * nothing is as quick as it should be, so tests wait for a condition and never assert how soon it came.
 * What is there soon is seen soon; what takes longer is asked less often, since asking takes processor
 * time from what is waited for.
 */
const STEP_MS = 5;
const SOON_MS = 200;
const LATER_STEP_MS = 20;
const WITHIN_MS = 120_000;

/** @throws Error when it has not come true in time. */
export async function eventually(
  condition: () => boolean | Promise<boolean>,
  withinMs = WITHIN_MS,
): Promise<void> {
  const from = performance.now();
  while (!(await condition())) {
    const waited = performance.now() - from;
    if (waited > withinMs) throw new Error(`not within ${withinMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, waited < SOON_MS ? STEP_MS : LATER_STEP_MS));
  }
}
