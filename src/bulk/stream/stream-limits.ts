/** What a stream of messages may hold. Every limit has an answer that names it. */

/** Messages of a stream that may be unanswered at a time. */
export const CREDIT_MESSAGES = 512;
/** Bytes of these. */
export const CREDIT_BYTES = 4_194_304;
/** Messages of one batch. */
export const BATCH_MESSAGES_MAX = 64;
/** One message, or one batch as a whole. */
export const MESSAGE_BYTES_MAX = 1_048_576;
/** Answers kept for a client that may lose its connection; the oldest are given up first. */
export const REPLAY_BYTES_MAX = 4_194_304;
/** Answers that wait for a slow client, above which no more messages go to the workers. */
export const UNSENT_BYTES_MAX = 1_048_576;
/** Bytes in the memory of a connection above which its client is behind. */
export const BEHIND_BYTES_MAX = 262_144;
/** Pongs in that memory beyond the answers; a client that takes none of them is cut. */
export const PONG_BYTES_MAX = 262_144;
/**
 * What one stream takes of the process's memory at most, with the longest answers: its unanswered
 * messages, once more as chunks, their answers, and what is kept for a cut.
 */
export const STREAM_MEMORY_BYTES_MAX = 41_943_040;

/** Chunks of one stream with the workers, or waiting for those before them. */
export const CHUNKS_IN_FLIGHT_MAX = 4;
/** Messages of one chunk. */
export const CHUNK_MESSAGES_MAX = 64;
/** Messages that are worth a further chunk while one is with the workers. */
export const CHUNK_MESSAGES_MIN = 16;

/** Streams of one account at a time, and of all; those that may be resumed count too. */
export const STREAMS_PER_ACCOUNT_MAX = 16;
export const STREAMS_MAX = 64;

/** A silent connection is asked for a sign of life so often; two without one end it. */
export const HEARTBEAT_MS = 20_000;
/** How often the clocks of streams are looked at. */
export const WATCH_MS = 1_000;

/** The limits as the header of a stream tells them. */
export const STREAM_LIMITS = {
  credits: CREDIT_MESSAGES,
  creditBytes: CREDIT_BYTES,
  batch: BATCH_MESSAGES_MAX,
  messageBytes: MESSAGE_BYTES_MAX,
  replayBytes: REPLAY_BYTES_MAX,
} as const;

/** What a client that sends more is told. */
export const OVER_CREDITS =
  `At most ${STREAM_LIMITS.credits} messages and ${STREAM_LIMITS.creditBytes} ` +
  'bytes may be unanswered.';
