/**
 * The most memory of its own that a server takes with default settings, by its parts, as
 * docs/operating.md states it.
 */
const MEBIBYTE = 1_024 ** 2;

/** The front end without the parts below: modules, sockets, answers under way, the store. */
export const FRONT_MIB = 192;
/** The default of SITUS_BODY_MEMORY_MIB. */
export const BODIES_MIB = 256;
/** The default of SITUS_ANSWER_CACHE_MIB. */
export const ANSWERS_MIB = 96;
/** Both parts of a worker's heap, as src/pool/threads.ts limits them. */
export const HEAP_MIB = 24 + 192;
/** Printed parts and postal answers in a worker for single lookups. */
export const LOOKUP_CACHE_MIB = 48 + 48;
/** The same in a worker for bulk files. */
export const BULK_CACHE_MIB = 16 + 16;
/**
 * Recently read streets and border cells, for each of the three releases that a worker has open.
 */
export const KEPT_MIB = 3 * (17 + 9);
/** Frames under way, and buffers that V8 has not collected yet. */
export const BUFFERS_MIB = 64;

/** The sum in bytes, on a machine with so many processors. */
export function memoryCeiling(processors: number): number {
  const lookup = HEAP_MIB + LOOKUP_CACHE_MIB + KEPT_MIB + BUFFERS_MIB;
  const bulk = HEAP_MIB + BULK_CACHE_MIB + KEPT_MIB + BUFFERS_MIB;
  const workers = Math.max(1, processors - 1) * lookup + processors * bulk;
  return (FRONT_MIB + BODIES_MIB + ANSWERS_MIB + workers) * MEBIBYTE;
}
