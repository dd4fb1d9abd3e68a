/**
 * The most memory of its own that a server takes with its default settings, part by part, as
 * docs/operating.md states it.
 */
const MEBIBYTE = 1_024 ** 2;

/** Modules, sockets, answers under way, the store: the front end without what follows. */
export const FRONT_MIB = 192;
/** SITUS_BODY_MEMORY_MIB. */
export const BODIES_MIB = 256;
/** SITUS_ANSWER_CACHE_MIB. */
export const ANSWERS_MIB = 96;
/** Both parts of a worker's heap, as src/pool.ts limits them. */
export const HEAP_MIB = 24 + 192;
/** Rendered parts and postal answers of a worker of single lookups. */
export const LOOKUP_CACHE_MIB = 48 + 48;
/** The same of a worker of bulk files. */
export const BULK_CACHE_MIB = 16 + 16;
/** Streets and border cells that were read last, of each release that a worker has open. */
export const KEPT_MIB = 3 * (17 + 9);
/** Frames under way, and buffers that wait until V8 collects them. */
export const BUFFERS_MIB = 64;

/** Bytes for so many processors. */
export function memoryCeiling(processors: number): number {
  const lookup = HEAP_MIB + LOOKUP_CACHE_MIB + KEPT_MIB + BUFFERS_MIB;
  const bulk = HEAP_MIB + BULK_CACHE_MIB + KEPT_MIB + BUFFERS_MIB;
  const workers = Math.max(1, processors - 1) * lookup + processors * bulk;
  return (FRONT_MIB + BODIES_MIB + ANSWERS_MIB + workers) * MEBIBYTE;
}
