/**
 * Located addresses, as a worker sends them to the front end; they are never part of an answer.
 *
 * Little-endian: u8 kind · u8 index of the failure's kind · u8 marks of a failure · spare · u32 and
 * u32 UTF-16 units of the first two texts · f64 latitude · f64 longitude; then the texts as UTF-8:
 * address, state and ZIP of a place, field and detail of a failure. They are written as one text,
 * since writing and reading three takes longer than JSON.
 */
import type { Engine } from '../../engine/engine.js';
import { FLAG_GEO, type Answer, type AnswerSlice } from '../../pool/types.js';
import { normalizedAddress, PRECISIONS } from '../../engine/situs.js';
import { fail, FAILURE_KINDS, isFailure, type Failure } from '../../failure.js';
import type { Microdegrees } from '../../geo/microdegrees.js';
import { RESPONSE_CODES, SUCCESS } from '../../wire/response-code.js';

/** The place that an address was located at, for the record of a merchant. */
export interface LocatedAddress {
  readonly normalizedAddress: string;
  /** Code of the state: two capital letters. */
  readonly state: string;
  /** ZIP, with the four further digits where they are known; may be empty. */
  readonly postalCode: string;
  /** Zero where no door was found. */
  readonly lat: Microdegrees;
  readonly lng: Microdegrees;
}

/** The place of an address, or why none was found. */
export type LocateOutcome = LocatedAddress | Failure;

const PLACE = 0;
const FAILURE = 1;

/** Marks of a failure. */
const HAS_FIELD = 1;
const HAS_DETAIL = 2;
const IS_AMBIGUOUS = 4;

const FIRST_AT = 4;
const SECOND_AT = 8;
const LAT_AT = 12;
const LNG_AT = 20;
const TEXT_AT = 28;

/** Bytes with up to three texts; the caller writes the other members. */
function withTexts(first: string, second: string, third: string): Buffer {
  const text = first + second + third;
  const bytes = Buffer.allocUnsafe(TEXT_AT + text.length * 3);
  bytes.fill(0, 0, TEXT_AT);
  bytes.writeUInt32LE(first.length, FIRST_AT);
  bytes.writeUInt32LE(second.length, SECOND_AT);
  return bytes.subarray(0, TEXT_AT + bytes.write(text, TEXT_AT, 'utf8'));
}

/** Packs an outcome for `readLocated`. */
export function packLocated(outcome: LocateOutcome): Buffer {
  if (isFailure(outcome)) {
    const { failure, field, detail, ambiguous } = outcome;
    const bytes = withTexts(field ?? '', detail ?? '', '');
    bytes[0] = FAILURE;
    bytes[1] = FAILURE_KINDS.indexOf(failure);
    bytes[2] =
      (field === null ? 0 : HAS_FIELD) |
      (detail === undefined ? 0 : HAS_DETAIL) |
      (ambiguous === true ? IS_AMBIGUOUS : 0);
    return bytes;
  }
  const bytes = withTexts(outcome.normalizedAddress, outcome.state, outcome.postalCode);
  bytes[0] = PLACE;
  bytes.writeDoubleLE(outcome.lat, LAT_AT);
  bytes.writeDoubleLE(outcome.lng, LNG_AT);
  return bytes;
}

/**
 * A worker's answer for one address. The text may have the state after a line end, as it was given.
 */
export function answerLocate(engine: Engine, text: string, nowMs: number): Answer {
  const [address = '', state] = text.split('\n');
  const found = engine.locateInState(address, nowMs, state);
  if (isFailure(found)) {
    const { code, http } = RESPONSE_CODES[found.failure];
    return { status: http, code, precision: 0, flags: 0, body: [packLocated(found)] };
  }
  const { situs, area } = found;
  const { postalCode, lat, lng, precision } = situs;
  const located: LocatedAddress = {
    normalizedAddress: normalizedAddress(situs),
    state: area.state,
    postalCode,
    lat,
    lng,
  };
  return {
    status: SUCCESS.http,
    code: SUCCESS.code,
    flags: FLAG_GEO,
    precision: PRECISIONS.indexOf(precision),
    body: [packLocated(located)],
  };
}

/**
 * Reads a worker's answer; null where the worker failed.
 * @throws RangeError for bytes that `packLocated` did not write.
 */
export function readLocated({ status, body }: AnswerSlice): LocateOutcome | null {
  if (status >= 500) return null;
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const second = bytes.readUInt32LE(FIRST_AT);
  const third = second + bytes.readUInt32LE(SECOND_AT);
  const text = bytes.toString('utf8', TEXT_AT);
  if (bytes[0] === PLACE) {
    return {
      normalizedAddress: text.slice(0, second),
      state: text.slice(second, third),
      postalCode: text.slice(third),
      lat: bytes.readDoubleLE(LAT_AT),
      lng: bytes.readDoubleLE(LNG_AT),
    };
  }
  const kind = bytes[0] === FAILURE ? FAILURE_KINDS[bytes[1]!] : undefined;
  if (kind === undefined) throw new RangeError('these bytes are no located address');
  const marks = bytes[2]!;
  const detail = (marks & HAS_DETAIL) === 0 ? undefined : text.slice(second);
  const failure = fail(kind, detail, (marks & HAS_FIELD) === 0 ? null : text.slice(0, second));
  return (marks & IS_AMBIGUOUS) === 0 ? failure : { ...failure, ambiguous: true };
}
