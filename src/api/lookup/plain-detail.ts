/**
 * The short form of the member `addressDetail` as JSON: the part of an answer that no cache holds.
 * It is printed straight into bytes: to make a text of its pieces and then bytes of that takes a
 * thirtieth of a whole answer more.
 */
import { type ByteWriter, Piece, type Printed } from '../../base/byte-writer.js';
import type { AreaRecord } from '../../dataset/records.js';
import type { LookupQuery } from '../../engine/lookup-query.js';
import type { Situs } from '../../engine/situs.js';
import { toMicrodegrees, type Microdegrees } from '../../geo/microdegrees.js';
import { echoText } from '../../wire/tree.js';

const OPEN = new Piece(',"addressDetail":{"normalizedAddress":');
const INCORPORATED = new Piece(',"incorporated":"true","geoLat":');
const UNINCORPORATED = new Piece(',"incorporated":"false","geoLat":');
const LNG = new Piece(',"geoLng":');
const CLOSE = new Piece('}');

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

/** What of an outcome is told. */
interface Led {
  readonly situs: Pick<Situs, 'normalizedAddress' | 'lat' | 'lng'>;
  readonly area: Pick<AreaRecord, 'incorporated'>;
}

/** With the comma before it and `rest` behind it; coordinates are echoed as they were given. */
export class PlainDetail implements Printed {
  readonly #address: string;
  readonly #incorporated: boolean;
  readonly #lat: Degrees;
  readonly #lng: Degrees;
  readonly #rest: string;

  constructor(query: LookupQuery, { situs, area }: Led, rest: string) {
    const isPoint = query.kind === 'point';
    this.#address = situs.normalizedAddress;
    this.#incorporated = area.incorporated;
    this.#lat = isPoint ? echoed(query.latDegrees) : situs.lat;
    this.#lng = isPoint ? echoed(query.lngDegrees) : situs.lng;
    this.#rest = rest;
  }

  print(into: ByteWriter): void {
    into.piece(OPEN);
    into.json(this.#address);
    into.piece(this.#incorporated ? INCORPORATED : UNINCORPORATED);
    printDegrees(into, this.#lat);
    into.piece(LNG);
    printDegrees(into, this.#lng);
    into.piece(CLOSE);
    into.text(this.#rest);
  }
}
