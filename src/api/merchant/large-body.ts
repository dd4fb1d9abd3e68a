/**
 * A worker's look at a body that is too long for the main thread, which gets a few members in
 * place of it.
 */
import type { Answer, BodyFields, BodyPart } from '../../pool/types.js';
import type { EndpointName } from '../../provider/endpoint.js';
import { merchantIdOf } from '../cart/owner.js';
import { kept } from '../../base/growing-bytes.js';
import { malformationOf, parseJsonObject } from '../../base/json-object.js';
import { parseNexusCreate } from './nexus-shape.js';
import { lookAtRelayed, relayedBytes } from './relay-check.js';
import { SUCCESS } from '../../wire/response-code.js';

/** Ends the JSON text before the bytes that follow it. */
const LINE_END = '\n';
const LINE_END_BYTE = 0x0a;

/** The body goes back with the answer, since it was given away. */
function cartOwner(body: Uint8Array): readonly BodyPart[] {
  const merchantId = merchantIdOf(body);
  if (merchantId !== null) return [JSON.stringify({ merchantId }), LINE_END, body];
  const malformed = malformationOf(body);
  return [JSON.stringify(malformed === null ? { merchantId } : { malformed }), LINE_END];
}

function relayed(name: EndpointName, body: Uint8Array): readonly BodyPart[] {
  const look = lookAtRelayed(name, body);
  const parts = [JSON.stringify(look), LINE_END];
  return 'malformed' in look || look.problem !== null ? parts : [...parts, relayedBytes(body)];
}

function nexus(body: Uint8Array): object {
  const read = parseJsonObject(body);
  return 'malformed' in read ? read : { parsed: parseNexusCreate(read.object) };
}

function partsOf(asked: BodyFields, body: Uint8Array): readonly BodyPart[] {
  switch (asked.kind) {
    case 'cart-owner': return cartOwner(body);
    case 'relayed': return relayed(asked.operation, body);
    case 'nexus': return [JSON.stringify(nexus(body)), LINE_END];
  }
}

/** The answer about a body. */
export function answerBody(asked: BodyFields, body: Uint8Array): Answer {
  return {
    status: SUCCESS.http, code: SUCCESS.code, precision: 0, flags: 0,
    body: partsOf(asked, body),
  };
}

/** The text and the bytes of such an answer; the bytes are to be kept. */
export function readBodyAnswer(answer: Uint8Array): {
  readonly text: string; readonly bytes: Uint8Array;
} {
  const end = answer.indexOf(LINE_END_BYTE);
  const text = Buffer.from(answer.buffer, answer.byteOffset, end).toString('utf8');
  return { text, bytes: kept(answer.subarray(end + 1)) };
}
