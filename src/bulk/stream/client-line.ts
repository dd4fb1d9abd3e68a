/**
 * Lines of a client: a message, a batch of messages, or a word about the stream itself. Messages
 * stay bytes; the workers parse them, so that a bad one is answered and never harms another.
 */
import { BATCH_MESSAGES_MAX } from './limit.js';

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

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
/** Stands for an element without a byte: no bytes are a message that was too long. */
const SPACE = Buffer.from(' ');

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

function skipSpace(bytes: Buffer, from: number): number {
  let at = from;
  while (isSpace(bytes[at])) at += 1;
  return at;
}

/** The index after the text that begins at a quote. */
function skipText(bytes: Buffer, from: number): number {
  let at = from + 1;
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
  return at + 1;
}

/** The first elements of a list as they were sent; null for bytes that are no list. */
export function listElements(bytes: Buffer): readonly Buffer[] | null {
  const open = skipSpace(bytes, 0);
  if (bytes[open] !== OPEN_BRACKET) return null;
  const elements: Buffer[] = [];
  let depth = 1;
  let start = open + 1;
  let at = start;
  while (at < bytes.length) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      at = skipText(bytes, at);
      continue;
    }
    if (byte === OPEN_BRACKET || byte === OPEN_BRACE) depth += 1;
    else if (byte === CLOSE_BRACKET || byte === CLOSE_BRACE) depth -= 1;
    if (depth === 0 || (depth === 1 && byte === COMMA)) {
      // One more than are taken says enough: a view of each of half a million would stop everyone.
      if (elements.length <= BATCH_MESSAGES_MAX) {
        elements.push(at === start ? SPACE : bytes.subarray(start, at));
      }
      start = at + 1;
    }
    at += 1;
    if (depth === 0) break;
  }
  return depth === 0 && skipSpace(bytes, at) === bytes.length ? elements : null;
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
