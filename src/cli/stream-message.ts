/** Messages of `situs stream`: where their answers go, and what is told of those it refuses. */
import type { JsMsg } from '@nats-io/jetstream';
import { headers, type MsgHdrs } from '@nats-io/transport-node';
import type { RefusedRow } from '../bulk/row/chunk-payload.js';
import { RESPONSE_CODES } from '../wire/response-code.js';

/** The last token of a subject: what `--ordered` keeps the order of. */
export function keyOf(subject: string): string {
  return subject.slice(subject.lastIndexOf('.') + 1);
}

/** Where an answer goes: a last token "*" is that of the message. */
export function targetOf(pattern: string, subject: string): string {
  return pattern.endsWith('.*') ? `${pattern.slice(0, -1)}${keyOf(subject)}` : pattern;
}

const HEADER_CHARS_MAX = 1_000;

/** The refusal of a message whose answer is not taken. */
export function tooLong(seq: number, bytes: number): RefusedRow {
  return {
    line: seq,
    code: RESPONSE_CODES.internal.code,
    field: null,
    message: `The answer has ${bytes} bytes, more than its stream takes in a message.`,
  };
}

/** Bytes of header fields, with what is written between them. */
export function bytesOf(fields: MsgHdrs | undefined): number {
  let bytes = 0;
  for (const [name, values] of fields ?? []) {
    for (const value of values) bytes += name.length + Buffer.byteLength(value) + 4;
  }
  return bytes;
}

/** A text as the value of a header field: one line of no great length. */
function lineOf(text: string): string {
  return text.replaceAll(/\s+/g, ' ').slice(0, HEADER_CHARS_MAX);
}

/** What a refused message is sent on with. */
export function headersOf(message: JsMsg, { code, field, message: why }: RefusedRow): MsgHdrs {
  const set = headers();
  set.set('Situs-Code', String(code));
  if (field !== null) set.set('Situs-Field', lineOf(field));
  set.set('Situs-Message', lineOf(why));
  set.set('Situs-Subject', message.subject);
  set.set('Situs-Sequence', String(message.seq));
  return set;
}
