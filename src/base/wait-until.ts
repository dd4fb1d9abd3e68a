/** Waiting for what tells nobody when it comes true. */

const LOOK_MS = 10;

/** Waits for something to come true, up to a moment of `performance.now()`. */
export async function waitUntil(isTrue: () => boolean, until: number): Promise<void> {
  while (!isTrue() && performance.now() < until) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}
