/** Tests that need what a machine may lack. */
/** A test that can be skipped. */
export interface Skipped {
  skip(why: string): void;
}

/**
 * Skips a test for want of something that can be installed. Where SITUS_TEST_ALL=1 demands all of
 * them the test fails instead, so that a green run says that everything was tested.
 */
export function skipForWantOf(context: Skipped, what: string): void {
  if (process.env['SITUS_TEST_ALL'] === '1') throw new Error(`${what}, and all is to be tested`);
  context.skip(what);
}
