/** The member `addressDetail` of v50 and v60. */
import type { AreaRecord } from '../../dataset/records.js';
import { countryName, type Situs } from '../../engine/situs.js';
import type { LookupQuery, SitusOutcome } from '../../engine/query.js';
import { formatMicrodegrees } from '../../geo/microdegrees.js';
import { jsonValue, degreesOf, echoOf, type WireObject } from '../../wire/tree.js';

/** What a list by postal code says: it is not geocoded, and clients need the member. */
export const NOT_GEOCODED: WireObject = {
  normalizedAddress: '', incorporated: '', geoLat: 0, geoLng: 0,
};

/** Where the lookup led; coordinates are echoed as they were given. */
export function addressDetail(query: LookupQuery, { situs, area }: SitusOutcome): WireObject {
  const point = query.kind === 'point';
  const geoLat = point ? echoOf(query.latDegrees) : degreesOf(situs.lat);
  const geoLng = point ? echoOf(query.lngDegrees) : degreesOf(situs.lng);
  const { normalizedAddress } = situs;
  const incorporated = String(area.incorporated);
  // Written out twice: spreading objects costs more than the rest of the answer.
  if (!query.options.addressDetailExtended) {
    return { normalizedAddress, incorporated, geoLat, geoLng };
  }
  return { normalizedAddress, incorporated, geoLat, geoLng, address: components(situs, area) };
}

/** The short form as JSON, printed straight: it is the part of an answer that no cache holds. */
export function plainDetailJson(query: LookupQuery, { situs, area }: SitusOutcome): string {
  const point = query.kind === 'point';
  const lat = point ? echoOf(query.latDegrees).decimal : formatMicrodegrees(situs.lat);
  const lng = point ? echoOf(query.lngDegrees).decimal : formatMicrodegrees(situs.lng);
  return `{"normalizedAddress":${jsonValue(situs.normalizedAddress)},` +
    `"incorporated":"${area.incorporated}","geoLat":${lat},"geoLng":${lng}}`;
}

function components(situs: Situs, area: AreaRecord): WireObject {
  return {
    countryCode: area.country,
    countryName: countryName(area.country),
    stateCode: area.state,
    state: area.stateName,
    county: area.countyName,
    city: situs.city,
    street: situs.street,
    postalCode: situs.postalCode,
    houseNumber: situs.houseNumber,
  };
}
