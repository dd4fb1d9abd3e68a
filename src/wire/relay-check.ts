/** A worker's look at a large body that is relayed: a problem to render, or none. */
import type { Answer } from '../engine/frame.js';
import { PROVIDER_ENDPOINTS } from '../provider/endpoint.js';
import { isTooDeep, JSON_DEPTH_MAX } from '../provider/json-depth.js';
import type { BodyProblem } from './body-rule.js';
import { relayProblem } from './relay-body.js';
import { SUCCESS } from './response-code.js';

const DECODER = new TextDecoder('utf-8', { fatal: true });

function broken(detail: string): BodyProblem {
  return { status: 400, detail, errors: [] };
}

function problemOf(body: Uint8Array): BodyProblem | null {
  if (isTooDeep(body)) {
    return broken(`The body has more than ${JSON_DEPTH_MAX} levels of lists and objects.`);
  }
  let value: unknown;
  try {
    value = JSON.parse(DECODER.decode(body));
  } catch {
    return broken('The body is not JSON in UTF-8.');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return broken('The body is not a JSON object.');
  }
  return relayProblem('cart/calculate', PROVIDER_ENDPOINTS['cart/calculate'].ids, { ...value });
}

/** Checks the cart of a provider-connected merchant. */
export function answerRelayCheck(body: Uint8Array): Answer {
  const problem = problemOf(body);
  const answer = { code: SUCCESS.code, precision: 0, flags: 0 };
  if (problem === null) return { ...answer, status: SUCCESS.http, body: [] };
  const { status, detail, errors } = problem;
  return { ...answer, status, body: [JSON.stringify({ detail, errors })] };
}
