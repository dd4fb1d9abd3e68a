/** The member `addressDetail`: where a lookup led, as a tree, and its short form as JSON. */
import { type ByteWriter, Piece, type Printed } from '../../base/byte-writer.js';
import type { AreaRecord } from '../../dataset/records.js';
import type { LookupQuery, SitusOutcome } from '../../engine/lookup-query.js';
import { countryName, normalizedAddress, type Situs } from '../../engine/situs.js';
import { toMicrodegrees, type Microdegrees } from '../../geo/microdegrees.js';
import { degreesOf, echoOf, echoText, type WireObject } from '../../wire/tree.js';

/** What a list by postal code says: it is not geocoded, and clients need the member. */
export const NOT_GEOCODED: WireObject = {
  normalizedAddress: '',
  incorporated: '',
  geoLat: 0,
  geoLng: 0,
};

/** Where the lookup led; coordinates are echoed as they were given. */
export function addressDetail(query: LookupQuery, { situs, area }: SitusOutcome): WireObject {
  const point = query.kind === 'point';
  const geoLat = point ? echoOf(query.latDegrees) : degreesOf(situs.lat);
  const geoLng = point ? echoOf(query.lngDegrees) : degreesOf(situs.lng);
  const written = normalizedAddress(situs);
  const incorporated = String(area.incorporated);
  // Written out twice: spreading objects costs more than the rest of the answer.
  if (!query.options.addressDetailExtended) {
    return { normalizedAddress: written, incorporated, geoLat, geoLng };
  }
  const address = components(situs, area);
  return { normalizedAddress: written, incorporated, geoLat, geoLng, address };
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

/**
 * The short form as JSON: the part of an answer that no cache holds. It is printed straight into
 * bytes: to make a text of its pieces and then bytes of that takes a thirtieth of a whole answer
 * more.
 */
const OPEN = new Piece(',"addressDetail":{"normalizedAddress":"');
const INCORPORATED = new Piece('","incorporated":"true","geoLat":');
const UNINCORPORATED = new Piece('","incorporated":"false","geoLat":');
const LNG = new Piece(',"geoLng":');
const CLOSE = new Piece('}');
const SPACE = 32;
const COMMA = 44;

/** Degrees: microdegrees, or the text of what is given more closely. */
type Degrees = Microdegrees | string;

/** As `echoText` prints it. */
function echoed(degrees: number): Degrees {
  const micro = toMicrodegrees(degrees);
  return micro / 1e6 === degrees ? micro : echoText(degrees);
}

function printDegrees(into: ByteWriter, degrees: Degrees): void {
  if (typeof degrees === 'number') into.millionths(degrees);
  else into.text(degrees);
}

/** As `normalizedAddress` writes it, part by part. */
function printAddress(into: ByteWriter, { houseNumber, street, place }: Led['situs']): void {
  if (houseNumber !== '' || street !== '') {
    into.jsonPart(houseNumber);
    if (street !== '') {
      into.byte(SPACE);
      into.jsonPart(street);
    }
    into.byte(COMMA);
    into.byte(SPACE);
  }
  into.jsonPart(place);
}

/** What of an outcome is told. */
interface Led {
  readonly situs: Pick<Situs, 'houseNumber' | 'street' | 'place' | 'lat' | 'lng'>;
  readonly area: Pick<AreaRecord, 'incorporated'>;
}

/** With the comma before it and `rest` behind it; coordinates are echoed as they were given. */
export class PlainDetail implements Printed {
  readonly #situs: Led['situs'];
  readonly #incorporated: boolean;
  readonly #lat: Degrees;
  readonly #lng: Degrees;
  readonly #rest: string;

  constructor(query: LookupQuery, { situs, area }: Led, rest: string) {
    const isPoint = query.kind === 'point';
    this.#situs = situs;
    this.#incorporated = area.incorporated;
    this.#lat = isPoint ? echoed(query.latDegrees) : situs.lat;
    this.#lng = isPoint ? echoed(query.lngDegrees) : situs.lng;
    this.#rest = rest;
  }

  print(into: ByteWriter): void {
    into.piece(OPEN);
    printAddress(into, this.#situs);
    into.piece(this.#incorporated ? INCORPORATED : UNINCORPORATED);
    printDegrees(into, this.#lat);
    into.piece(LNG);
    printDegrees(into, this.#lng);
    into.piece(CLOSE);
    into.text(this.#rest);
  }
}
