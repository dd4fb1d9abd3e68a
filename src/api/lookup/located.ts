/** Located addresses on their way from a worker to the front end; never part of an answer. */
import type { Engine } from '../../engine/engine.js';
import { FLAG_GEO, type Answer, type AnswerSlice } from '../../pool/types.js';
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

/** What a place that cannot be found is told with where the engine says nothing. */
const NOT_FOUND = 'it could not be found';

function refusal({ failure, detail }: Failure): Answer {
  const { code, http } = RESPONSE_CODES[failure];
  const body = [Buffer.from(detail ?? NOT_FOUND, 'utf8')];
  return { status: http, code, precision: 0, flags: 0, body };
}

/** A worker's answer for one address. */
export function answerLocate(engine: Engine, address: string, nowMs: number): Answer {
  const found = engine.locateInState(address, nowMs);
  if (isFailure(found)) return refusal(found);
  const { situs, area } = found;
  const { normalizedAddress, postalCode, lat, lng, precision } = situs;
  const located: LocatedAddress = { normalizedAddress, state: area.state, postalCode, lat, lng };
  return {
    status: SUCCESS.http, code: SUCCESS.code, flags: FLAG_GEO,
    precision: PRECISIONS.indexOf(precision),
    body: [Buffer.from(JSON.stringify(located), 'utf8')],
  };
}

export type LocateOutcome = LocatedAddress
  /** Why the address leads nowhere. */
  | { readonly unresolved: string };

/**
 * Reads a worker's answer; null for a fault of the worker.
 * @throws Error for bytes that answerLocate did not write.
 */
export function readLocated({ status, body }: AnswerSlice): LocateOutcome | null {
  if (status >= 500) return null;
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8');
  if (status !== SUCCESS.http) return { unresolved: text };
  const located: LocatedAddress = JSON.parse(text);
  return located;
}
