/**
 * Waits for something that other threads or processes bring about. A machine may be so loaded that
 * nothing is as quick as it should be, so tests wait for a condition and never assert how soon it came.
 * What is there soon is seen soon; what takes longer is asked less often, since asking takes processor
 * time from what is waited for.
 */
const STEP_MS = 5;
const LATER_STEP_MS = 250;
/** How much of what was waited so far is waited until it is asked again. */
const SHARE = 1 / 20;
const WITHIN_MS = 120_000;

/**
 * @param stepMs the shortest pause, for what may not be asked often, as with keys that are none yet.
 * @throws Error when it has not come true in time.
 */
export async function eventually(
  condition: () => boolean | Promise<boolean>,
  withinMs = WITHIN_MS,
  stepMs = STEP_MS,
): Promise<void> {
  const from = performance.now();
  while (!(await condition())) {
    const waited = performance.now() - from;
    if (waited > withinMs) throw new Error(`not within ${withinMs} ms`);
    const step = Math.min(Math.max(waited * SHARE, stepMs), LATER_STEP_MS);
    await new Promise((resolve) => setTimeout(resolve, step));
  }
}
