/** Writes answers, and heads of those that go out bit by bit, on a native response. */
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

/** Writes the fields that no handler gives. */
export function writeExtra(raw: RawResponse, extra: ExtraFields): void {
  for (let at = 0; at + 1 < extra.length; at += 2) raw.writeHeader(extra[at]!, extra[at + 1]!);
}

/**
 * Writes a whole answer; to be called corked. What the client does not take at once is sent as it
 * does, and counts as open until then, but for some short ones (`mayEnd`). `bodiless` leaves the
 * body out and tells its length; `alone` says that nothing else is sent with it.
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
    // Whoever reads the field closes; the native call would need a length to be told of it.
    if (close) raw.writeHeader('Connection', 'close');
    writeFields(raw, head).endWithoutBody();
    return;
  }
  raw.writeHeader(CONTENT_TYPE, head);
  writeBody(raw, body, traffic, close, bodiless, alone ? head.length : IN_COMPANY);
}

/** In place of the length of a head: other answers are sent with it. */
const IN_COMPANY = -1;

/** What follows a head of so many bytes. */
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

/** The fields of a head without its content type: there is no content (RFC 9110, 8.6). */
function writeFields(raw: RawResponse, head: Reply['head']): RawResponse {
  for (const [name, value] of fieldsOf(head)) {
    if (name !== 'content-type') raw.writeHeader(name, value);
  }
  return raw;
}

/** Begins an answer that is written bit by bit; to be called corked. HEAD gets no more of it. */
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
