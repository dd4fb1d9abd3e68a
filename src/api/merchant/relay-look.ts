/** What is looked for in a body before it is relayed to the compliance provider. */
import { withoutMember } from '../../base/json-member.js';
import { parseJsonObject, type JsonObject } from '../../base/json-object.js';
import { isProblem, type Problem } from '../../base/problem.js';
import {
  PROVIDER_ENDPOINTS,
  type EndpointName,
  type ProviderEndpoint,
} from '../../provider/operation-call.js';
import { relayProblem } from './relay-shape.js';

/** What is known of a body, without anything that was parsed of it beside small members. */
export interface RelayLook {
  /** As it was sent; null for what is no text. */
  readonly merchantId: string | null;
  readonly problem: Problem | null;
  /** Members that become the path and query of the call; none where there is a problem. */
  readonly members: JsonObject;
}

/** Longest text that is told of as a merchant's id; a UUID has 36 characters. */
const ID_CHARS_MAX = 36;

function pathMembers({ ids, query }: ProviderEndpoint, body: JsonObject): JsonObject {
  return Object.fromEntries(
    [...ids, ...query].flatMap((name) =>
      body[name] === undefined ? [] : [[name, body[name]] as const],
    ),
  );
}

/** Looks at a body of an operation; a problem where it is no JSON object. */
export function lookAtRelayed(name: EndpointName, body: Uint8Array): RelayLook | Problem {
  const read = parseJsonObject(body);
  if (isProblem(read)) return read;
  const endpoint: ProviderEndpoint = PROVIDER_ENDPOINTS[name];
  const { merchantId } = read.object;
  const refused = relayProblem(name, endpoint.ids, read.object);
  return {
    merchantId:
      typeof merchantId === 'string' && merchantId.length <= ID_CHARS_MAX ? merchantId : null,
    problem: refused,
    members: refused === null ? pathMembers(endpoint, read.object) : {},
  };
}

/** The bytes of a body that the provider gets. */
export function relayedBytes(body: Uint8Array): Uint8Array {
  return withoutMember(body, 'merchantId');
}
