/** Writes answers, and the heads of those that are written in parts, to a native response. */
import { fieldName } from './body-framing.js';
import type { Traffic } from './exchange.js';
import { NO_EXTRA, type DuplexSurroundings, type ExtraFields } from './front.js';
import { endWith, endWithout, mayEnd } from './pacing.js';
import { fieldsOf, type Reply } from './reply.js';
import { statusLine } from './status.js';
import type { JoiningResponse, RawResponse } from './transport.js';

const CONTENT_TYPE = fieldName('Content-Type');

/** Statuses of answers that have no content. */
const BODILESS: ReadonlySet<number> = new Set([204, 304]);

/** Writes the fields that do not come from a handler. */
export function writeExtra(raw: RawResponse, extra: ExtraFields): void {
  for (let at = 0; at + 1 < extra.length; at += 2) raw.writeHeader(extra[at]!, extra[at + 1]!);
}

/**
 * Writes a whole answer; call it corked. What the client does not take at once is sent later, and
 * the answer counts as open until then, except for some short ones (`mayEnd`). `bodiless` leaves
 * the body out but states its length; `alone` says that nothing else is sent with it.
 */
export function writeReply(
  raw: RawResponse,
  { status, head, joined, body }: Reply,
  traffic: Traffic,
  close: boolean,
  bodiless = false,
  extra = NO_EXTRA,
  alone = false,
): void {
  if (joined !== undefined && status === 200 && traffic.native === true) {
    (raw as JoiningResponse).writeStatus(joined);
    if (extra.length > 0) writeExtra(raw, extra);
    writeBody(raw, body, traffic, close, bodiless, alone ? joined.byteLength : IN_COMPANY);
    return;
  }
  if (status !== 200) raw.writeStatus(statusLine(status));
  if (extra.length > 0) writeExtra(raw, extra);
  if (status !== 200 && BODILESS.has(status)) {
    // A client that reads this field closes; the native call could close only with a length.
    if (close) raw.writeHeader('Connection', 'close');
    writeFields(raw, head).endWithoutBody();
    return;
  }
  raw.writeHeader(CONTENT_TYPE, head);
  writeBody(raw, body, traffic, close, bodiless, alone ? head.length : IN_COMPANY);
}

/** Passed instead of the length of a head where other answers are sent with it. */
const IN_COMPANY = -1;

/** Writes what follows a head of `headBytes`. */
function writeBody(
  raw: RawResponse,
  body: Reply['body'],
  traffic: Traffic,
  close: boolean,
  bodiless: boolean,
  headBytes: number,
): void {
  const alone = headBytes !== IN_COMPANY;
  if (close) raw.end(bodiless ? '' : body, close);
  else if (bodiless) endWithout(raw, body, traffic, alone);
  else if (alone && traffic.native === true && mayEnd(headBytes, body)) raw.end(body);
  else endWith(raw, body, traffic, alone);
}

/** Writes the fields of a head without the content type, as there is no content (RFC 9110, 8.6). */
function writeFields(raw: RawResponse, head: Reply['head']): RawResponse {
  for (const [name, value] of fieldsOf(head)) {
    if (name !== 'content-type') raw.writeHeader(name, value);
  }
  return raw;
}

/** Begins an answer that is written in parts; call it corked. For HEAD this is the whole answer. */
export function writeHead(
  raw: RawResponse,
  status: number,
  head: Reply['head'],
  { extra = NO_EXTRA, bodiless = false }: DuplexSurroundings,
): void {
  if (status !== 200) raw.writeStatus(statusLine(status));
  writeExtra(raw, extra);
  raw.writeHeader(CONTENT_TYPE, head);
  if (bodiless) raw.endWithoutBody();
}
