/**
 * Lines of a client: a message, a batch of messages, or a word about the stream itself. Messages
 * stay bytes; the workers parse them, so that a bad one is answered and never harms another.
 */
import { elementEnd, skipBlanks } from '../../base/json-scan.js';
import { BATCH_MESSAGES_MAX } from './stream-limits.js';

const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;

export type ClientLine =
  /** The client has every answer up to `seq`. */
  | { readonly kind: 'ack'; readonly seq: number }
  /** No more messages. */
  | { readonly kind: 'end' }
  | { readonly kind: 'messages'; readonly messages: readonly Buffer[]; readonly batch: boolean }
  | { readonly kind: 'batch-too-long' };

const CONTROL_BYTES_MAX = 64;
const ACK = /^\s*\{\s*"ack"\s*:\s*(\d{1,15})\s*\}\s*$/;
const END = /^\s*\{\s*"end"\s*:\s*true\s*\}\s*$/;

/** In place of an empty element: a message of no bytes already means one that was too long. */
const SPACE = Buffer.from(' ');

/** The first elements of a list as they were sent; null for bytes that are no list. */
export function listElements(bytes: Buffer): readonly Buffer[] | null {
  const open = skipBlanks(bytes, 0);
  if (bytes[open] !== OPEN_BRACKET) return null;
  const elements: Buffer[] = [];
  let end = open;
  do {
    const start = end + 1;
    end = elementEnd(bytes, start);
    // One more element than a batch may have is enough to refuse it: half a million views would
    // hold up every other client.
    if (elements.length <= BATCH_MESSAGES_MAX) {
      elements.push(end === start ? SPACE : bytes.subarray(start, end));
    }
  } while (bytes[end] === COMMA);
  const isWhole = end < bytes.length && skipBlanks(bytes, end + 1) === bytes.length;
  return isWhole ? elements : null;
}

/**
 * Messages of a batch that hold nothing of it but themselves: a view keeps the whole line in
 * memory, and blanks around the list are counted by nobody.
 */
function withoutBlanks(line: Buffer, elements: readonly Buffer[]): readonly Buffer[] {
  const used = elements.reduce((sum, { length }) => sum + length, 0);
  if (line.length - used <= BATCH_MESSAGES_MAX + 1) return elements;
  return elements.map((element) => Buffer.from(element));
}

/** Reads a line; the messages are views of it where it is little more than these. */
export function readClientLine(bytes: Buffer): ClientLine {
  if (bytes.length <= CONTROL_BYTES_MAX) {
    const text = bytes.toString('latin1');
    const ack = ACK.exec(text);
    if (ack !== null) return { kind: 'ack', seq: Number(ack[1]) };
    if (END.test(text)) return { kind: 'end' };
  }
  const elements = listElements(bytes);
  if (elements === null) return { kind: 'messages', messages: [bytes], batch: false };
  return elements.length > BATCH_MESSAGES_MAX
    ? { kind: 'batch-too-long' }
    : { kind: 'messages', messages: withoutBlanks(bytes, elements), batch: true };
}
