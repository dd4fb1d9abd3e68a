/** What is looked at in a body that is relayed to the compliance provider. */
import {
  PROVIDER_ENDPOINTS, type EndpointName, type ProviderEndpoint,
} from '../../provider/endpoint.js';
import { withoutMember } from '../../base/json-member.js';
import type { BodyProblem } from './body.js';
import { parseJsonObject, type JsonObject } from '../../base/json-object.js';
import { relayProblem } from './relay-shape.js';

/** What is known of a body, without anything that was parsed of it beside small members. */
export interface RelayLook {
  /** As it was sent; null for what is no text. */
  readonly merchantId: string | null;
  readonly problem: BodyProblem | null;
  /** Members that become the path and query of the call; none where there is a problem. */
  readonly members: JsonObject;
}

export interface Malformed {
  readonly malformed: string;
}

/** Longest text that is told of as a merchant's id; a UUID has 36 characters. */
const ID_CHARS_MAX = 36;

function pathMembers({ ids, query }: ProviderEndpoint, body: JsonObject): JsonObject {
  return Object.fromEntries([...ids, ...query].flatMap((name) =>
    (body[name] === undefined ? [] : [[name, body[name]] as const])));
}

/** Looks at a body of an operation. */
export function lookAtRelayed(name: EndpointName, body: Uint8Array): RelayLook | Malformed {
  const read = parseJsonObject(body);
  if ('malformed' in read) return read;
  const endpoint: ProviderEndpoint = PROVIDER_ENDPOINTS[name];
  const { merchantId } = read.object;
  const problem = relayProblem(name, endpoint.ids, read.object);
  return {
    merchantId: typeof merchantId === 'string' && merchantId.length <= ID_CHARS_MAX
      ? merchantId : null,
    problem,
    members: problem === null ? pathMembers(endpoint, read.object) : {},
  };
}

/** The bytes of a body that the provider gets. */
export function relayedBytes(body: Uint8Array): Uint8Array {
  return withoutMember(body, 'merchantId');
}
