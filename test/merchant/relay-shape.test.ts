/** What is told of relayed bodies is what is checked. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PROVIDER_ENDPOINTS, RELAYED_NAMES } from '../../src/provider/operation-call.js';
import { type ComponentName, COMPONENTS } from '../../src/describe/document.js';
import { OPERATIONS } from '../../src/describe/operations.js';
import {
  BUSINESS_TYPES,
  EXEMPTION_REASONS,
  PROVIDER_ID_CHARS_MAX,
  relayProblem,
} from '../../src/api/merchant/relay-shape.js';
import type { Schema } from '../../src/base/json-schema.js';
import { UNKNOWN_ID } from '../support/merchant-service.js';
import { BODIES, RELAY_NAMES, type RelayName } from '../support/relay-service.js';
import { checker } from '../support/schema-check.js';

function isRelayed(name: RelayName, body: Readonly<Record<string, unknown>>): boolean {
  return relayProblem(name, PROVIDER_ENDPOINTS[name].ids, body) === null;
}

function schemaOf(name: RelayName): ComponentName {
  const body = OPERATIONS.get(`POST /merchant/${name}`)?.body;
  assert.ok(body !== undefined, name);
  return body;
}

test('every operation has a route, a body and a description', () => {
  assert.deepEqual([...RELAYED_NAMES].sort(), [...RELAY_NAMES].sort());
  for (const name of RELAYED_NAMES) {
    assert.ok(OPERATIONS.get(`POST /merchant/${name}`)?.responses['502'] !== undefined, name);
  }
});

test('checks and schemas agree, member by member', () => {
  const ajv = checker();
  for (const name of RELAY_NAMES) {
    const check = ajv.compile(COMPONENTS[schemaOf(name)]);
    const whole = { merchantId: UNKNOWN_ID, ...BODIES[name] };
    assert.ok(check(whole) && isRelayed(name, whole), name);
    const { properties = {} }: Schema = COMPONENTS[schemaOf(name)];
    const members = Object.keys(properties ?? {}).filter((member) => member !== 'merchantId');
    for (const member of members) {
      for (const value of [undefined, 7, true, {}, 'x'.repeat(300)]) {
        const { [member]: _left, ...rest } = { ...whole } as Record<string, unknown>;
        const body = value === undefined ? rest : { ...rest, [member]: value };
        // Of dates the schema tells no more than that they are text.
        if (typeof value === 'string' && /Date$/.test(member)) continue;
        assert.equal(
          isRelayed(name, body),
          check(body),
          `${name} ${member} ${JSON.stringify(value)} ${JSON.stringify(check.errors)}`,
        );
      }
    }
  }
});

test('every business and reason is taken', () => {
  const body = BODIES['cert/create'];
  for (const customerBusinessType of BUSINESS_TYPES) {
    assert.ok(isRelayed('cert/create', { ...body, customerBusinessType }));
  }
  for (const reason of EXEMPTION_REASONS) assert.ok(isRelayed('cert/create', { ...body, reason }));
});

test('characters above U+FFFF count once, halves of them are refused', () => {
  const orderId = '😀'.repeat(PROVIDER_ID_CHARS_MAX);
  assert.ok(isRelayed('order/get', { orderId }));
  assert.ok(!isRelayed('order/get', { orderId: `${orderId}a` }));
  assert.ok(!isRelayed('order/get', { orderId: '\ud83d' }));
});
