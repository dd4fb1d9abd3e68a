/** The short form of where a lookup led is the same bytes as what any other form is printed of. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { bytesOfParts } from '../../src/base/byte-writer.js';
import { NO_OPTIONS, type LookupQuery } from '../../src/engine/lookup-query.js';
import { normalizedAddress } from '../../src/engine/situs.js';
import { degreesOf, echoOf, jsonMembers } from '../../src/wire/tree.js';
import { PlainDetail } from '../../src/api/lookup/v60.js';

const degrees = fc.oneof(
  fc.double({ min: -180, max: 180, noNaN: true }),
  fc.integer({ min: -180_000_000, max: 180_000_000 }).map((micro) => micro / 1e6),
  fc.constantFrom(0, -0, 1e-7, -5e-8, 0.1 + 0.2),
);
const micro = fc.integer({ min: -180_000_000, max: 180_000_000 });
const address = fc.oneof(
  fc.string({ maxLength: 60 }),
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.constantFrom('12 Main St, Elmton, QA 91010, United States', 'Québec "QC"', '\ud800'),
);

test('as members of an object print it', () => {
  fc.assert(
    fc.property(
      fc.tuple(fc.oneof(fc.constant(''), address), fc.oneof(fc.constant(''), address), address),
      fc.boolean(),
      fc.tuple(micro, micro),
      fc.option(fc.tuple(degrees, degrees)),
      ([houseNumber, street, place], incorporated, [lat, lng], point) => {
        const options = NO_OPTIONS;
        const query = (
          point === null
            ? { kind: 'address', address: 'any', options }
            : { kind: 'point', lat, lng, latDegrees: point[0], lngDegrees: point[1], options }
        ) satisfies LookupQuery;
        const situs = { houseNumber, street, place, lat, lng };
        const led = { situs, area: { incorporated } };
        const printed = bytesOfParts([new PlainDetail(query, led, '}')]);
        const members = jsonMembers({
          addressDetail: {
            normalizedAddress: normalizedAddress(situs),
            incorporated: String(incorporated),
            geoLat: point === null ? degreesOf(lat) : echoOf(point[0]),
            geoLng: point === null ? degreesOf(lng) : echoOf(point[1]),
          },
        });
        assert.equal(Buffer.from(printed).toString(), `,${members}}`);
      },
    ),
    { numRuns: 2_000 },
  );
});
