/**
 * Where a lookup led, as members of any answer. What most answers say of it, in JSON and in short,
 * is printed by `v60.ts`.
 */
import type { AreaRecord } from '../../dataset/records.js';
import { countryName, normalizedAddress } from '../../engine/locate/address-writer.js';
import type { LookupQuery, SitusOutcome } from '../../engine/lookup-query.js';
import type { Situs } from '../../engine/situs.js';
import { V60_XML_CLOSE } from '../../wire/response-code.js';
import { degreesOf, echoOf, type Format, printMembers, type WireObject } from '../../wire/tree.js';

/** Where the lookup led; coordinates are echoed as they were given. */
export function addressDetail(query: LookupQuery, { situs, area }: SitusOutcome): WireObject {
  const point = query.kind === 'point';
  const geoLat = point ? echoOf(query.latDegrees) : degreesOf(situs.lat);
  const geoLng = point ? echoOf(query.lngDegrees) : degreesOf(situs.lng);
  const incorporated = String(area.incorporated);
  const short = { normalizedAddress: normalizedAddress(situs), incorporated, geoLat, geoLng };
  const isLong = query.options.addressDetailExtended;
  return isLong ? { ...short, address: components(situs, area) } : short;
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

/** The end of a body: where it led, and the explanation where one was asked for. */
export function bodyEnd(detail: WireObject, explain: string, format: Format): string {
  const member = printMembers({ addressDetail: detail }, format);
  if (format === 'xml') return member + explain + V60_XML_CLOSE;
  return `,${member}${explain === '' ? '' : `,${explain}`}}`;
}
