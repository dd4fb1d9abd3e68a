/** What a search found, as it is written out. */
import type { Located } from './address-writer.js';
import type { Candidates } from './candidates.js';
import type { Query } from './search.js';

/** The four digits that were sent after the ZIP of what was found; −1 for none. */
function plus4Sent({ reading: { zip4 }, zip }: Query, found: number): number {
  return zip4 !== '' && (found === zip || found <= 0) ? Number(zip4) : -1;
}

/** A door as it is written out. */
export function doorFound(query: Query, door: Candidates): Located {
  const { reading, state, zip } = query;
  return {
    area: door.area,
    precision: door.isPoint ? 'point' : 'range',
    lat: door.lat,
    lng: door.lng,
    number: door.numberText || reading.number,
    street: door.label,
    state,
    city: door.city,
    municipality: door.municipality,
    zip: door.zip,
    plus4: door.plus4 >= 0 ? door.plus4 : plus4Sent(query, door.zip),
    cityAsked: reading.city,
    zipAsked: zip,
    stated: door.isStated,
    apart: door.isApart,
  };
}

/** A street alone as it is written out. */
export function streetFound(query: Query, street: Candidates): Located {
  const { reading, state, zip } = query;
  return {
    area: street.streetArea,
    precision: 'street',
    lat: 0,
    lng: 0,
    number: reading.number,
    street: street.streetLabel,
    state,
    city: street.streetCity,
    municipality: street.streetMunicipality,
    zip: street.streetZip,
    plus4: plus4Sent(query, street.streetZip),
    cityAsked: reading.city,
    zipAsked: zip,
    stated: false,
    apart: false,
  };
}
