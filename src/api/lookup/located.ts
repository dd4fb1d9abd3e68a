/** Located addresses on their way from a worker to the front end; never part of an answer. */
import type { Engine } from '../../engine/engine.js';
import { FLAG_GEO, type Answer, type AnswerSlice, type BodyPart } from '../../pool/types.js';
import { PRECISIONS } from '../../engine/situs.js';
import { isFailure, type Failure } from '../../failure.js';
import type { Microdegrees } from '../../geo/microdegrees.js';
import { RESPONSE_CODES, SUCCESS } from '../../wire/response-code.js';

/** What is recorded of an address. */
export interface LocatedAddress {
  readonly normalizedAddress: string;
  /** Two capitals. */
  readonly state: string;
  /** With the four digits where they are known; may be empty. */
  readonly postalCode: string;
  /** Zero without a door. */
  readonly lat: Microdegrees;
  readonly lng: Microdegrees;
}

/** The place of an address, or why it leads nowhere. */
export type LocateOutcome = LocatedAddress | Failure;

/** As JSON: the few short members that it is take a sixth of the time of `packValue`. */
function packed(outcome: LocateOutcome): readonly BodyPart[] {
  return [Buffer.from(JSON.stringify(outcome))];
}

/** A worker's answer for one address. */
export function answerLocate(engine: Engine, address: string, nowMs: number): Answer {
  const found = engine.locateInState(address, nowMs);
  if (isFailure(found)) {
    const { code, http } = RESPONSE_CODES[found.failure];
    return { status: http, code, precision: 0, flags: 0, body: packed(found) };
  }
  const { situs, area } = found;
  const { normalizedAddress, postalCode, lat, lng, precision } = situs;
  const located: LocatedAddress = { normalizedAddress, state: area.state, postalCode, lat, lng };
  return {
    status: SUCCESS.http,
    code: SUCCESS.code,
    flags: FLAG_GEO,
    precision: PRECISIONS.indexOf(precision),
    body: packed(located),
  };
}

/**
 * Reads a worker's answer; null for a fault of the worker.
 * @throws Error for bytes that answerLocate did not write.
 */
export function readLocated({ status, body }: AnswerSlice): LocateOutcome | null {
  if (status >= 500) return null;
  const { buffer, byteOffset, byteLength } = body;
  const outcome: LocateOutcome = JSON.parse(Buffer.from(buffer, byteOffset, byteLength).toString());
  return outcome;
}
