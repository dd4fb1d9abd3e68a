/**
 * Address line → tax area, by the strongest evidence there is: the door's own point, its range
 * of the street, its ZIP+4, its whole street, its ZIP and city. Where what is known leads to
 * several tax areas the answer is a refusal, never a choice.
 */
import { parseAddress } from '../../address/parse.js';
import type { ParsedAddress } from '../../address/parsed.js';
import { repairedReading } from '../../address/typo.js';
import type { Dataset } from '../../dataset/dataset.js';
import { fail, failAmbiguous, isFailure, type Failure } from '../../failure.js';
import type { Microdegrees } from '../../geo/microdegrees.js';
import type { RatesByArea } from '../rate/on-day.js';
import type { Situs } from '../situs.js';
import {
  ALIKE,
  AMBIGUOUS,
  CONTRADICTION,
  Doubts,
  type DateOf,
  isTorn,
  refuse,
  unreadable,
} from './doubt.js';
import { addOnFound, AddressWriter, doorFound, streetFound } from './address-writer.js';
import { DatasetGazetteer } from './place-names.js';
import { PlainLines } from './plain-lines.js';
import { PostalLocator } from './postal.js';
import { needsProvince, ProvinceLocator } from './province.js';
import { isWhereNamed, type Query, StreetSearch } from './search.js';

/** Locates addresses in one dataset; keeps what is reused from one address to the next. */
export class AddressLocator {
  readonly #dataset: Dataset;
  readonly #gazetteer: DatasetGazetteer;
  readonly #search: StreetSearch;
  readonly #plain: PlainLines;
  readonly #doubts: Doubts;
  readonly #postal: PostalLocator;
  readonly #alike: PostalLocator;
  readonly #provinces: ProvinceLocator;
  readonly #writer: AddressWriter;

  constructor(dataset: Dataset, rates: RatesByArea) {
    this.#dataset = dataset;
    this.#gazetteer = new DatasetGazetteer(dataset);
    this.#search = new StreetSearch(dataset, this.#gazetteer);
    this.#doubts = new Doubts(dataset, rates, this.#gazetteer);
    this.#postal = new PostalLocator(dataset, this.#doubts);
    this.#alike = new PostalLocator(dataset, new Doubts(dataset, ALIKE, this.#gazetteer));
    this.#provinces = new ProvinceLocator(dataset);
    this.#writer = new AddressWriter(dataset, this.#gazetteer);
    const isApart = (state: string): boolean => this.#provinces.has(state);
    this.#plain = new PlainLines(dataset, this.#gazetteer, isApart);
  }

  /**
   * Locates an address line. `dateOf` gives the day on which rates are compared where an answer
   * depends on several areas being taxed alike.
   */
  locate(text: string, dateOf: DateOf): Situs | Failure {
    const plain = this.#plain.query(text, dateOf);
    const found = plain === null ? null : this.#exact(plain, dateOf, true);
    return found ?? this.#read(text, plain, dateOf);
  }

  /**
   * The same for a line that is asked for as one of Canada. Without province and postal code it is
   * looked for in the United States where it names a state or a ZIP.
   */
  locateCanadian(text: string, dateOf: DateOf): Situs | Failure {
    const found = this.#provinces.locateLine(text);
    if (found !== null) return found;
    const { zip = '', state = '' } = parseAddress(text, this.#gazetteer)[0] ?? {};
    const isAmerican = zip !== '' || (state !== '' && !this.#provinces.has(state));
    return isAmerican ? this.locate(text, dateOf) : needsProvince();
  }

  /** Word by word; `tried` is the likeliest query, where it is known and found nothing. */
  #read(text: string, tried: Query | null, dateOf: DateOf): Situs | Failure {
    const readings = parseAddress(text, this.#gazetteer);
    const first = readings[0];
    if (first === undefined) return unreadable(text, this.#gazetteer);
    if (
      first.country === 'CAN' ||
      first.canadianPostalCode !== '' ||
      (first.zip === '' && this.#provinces.has(first.state))
    ) {
      return this.#provinces.locateLine(text) ?? this.#provinces.locate(first);
    }
    const refusal = refuse(first);
    if (refusal !== null) return refusal;
    const queries: Query[] = [];
    for (const reading of readings) {
      if (reading === first && tried !== null) {
        queries.push(tried);
        continue;
      }
      const query = this.#query(reading, dateOf);
      if (query === null) continue;
      if (isFailure(query)) {
        // The refusal of a weaker reading does not count where a better one can be looked up.
        if (queries.length === 0) return query;
        continue;
      }
      const found = this.#exact(query, dateOf, true);
      if (found !== null) return found;
      queries.push(query);
    }
    for (const query of queries) {
      const found = this.#exact(query, dateOf, false);
      if (found !== null) return this.#unlessMisspelt(found, query, dateOf);
    }
    const best = queries[0];
    if (best === undefined) {
      return this.#provinces.locateCoded(text) ?? unreadable(text, this.#gazetteer);
    }
    return this.#weaker(queries, dateOf) ?? this.#postal.locate(best.reading, dateOf);
  }

  /** As `ProvinceLocator.unheldNear`. */
  unheldNear(area: number, lat: Microdegrees, lng: Microdegrees): string | null {
    return this.#provinces.unheldNear(area, lat, lng);
  }

  /**
   * The same for places of sales: where the line names no door (a post office box, no house number,
   * a city alone) its ZIP+4 decides, else its ZIP and city, which answer only where the choice
   * cannot be wrong.
   */
  locatePlace(text: string, dateOf: DateOf): Situs | Failure {
    const found = this.locate(text, dateOf);
    if (!isFailure(found)) return found;
    const [reading] = parseAddress(text, this.#gazetteer);
    if (reading === undefined || reading.country === 'CAN') return found;
    if (reading.kind === 'military') return found;
    // A street with a number was looked for by all evidence; a refusal that came of it stands.
    if (reading.kind === 'street' && reading.number !== '') return found;
    const city = { ...reading, kind: 'place-only', number: '', name: '', suffix: '' } as const;
    const state = reading.state || (this.#dataset.zip(Number(reading.zip))?.state ?? '');
    if (isTorn(reading, state)) return found;
    const addOn = this.#addOn(city, state, dateOf);
    if (addOn !== null && !isFailure(addOn)) return addOn;
    const postal = this.#postal.locate(city, dateOf);
    return isFailure(postal) ? found : postal;
  }

  /** The same where the state alone matters: by ZIP and city where only rates are in doubt. */
  locateInState(text: string, dateOf: DateOf): Situs | Failure {
    const found = this.locate(text, dateOf);
    if (!isFailure(found)) return found;
    const isPlain = found.failure === 'address-incomplete' && found.ambiguous !== true;
    const [reading] = isPlain ? [] : parseAddress(text, this.#gazetteer);
    const place = reading?.zip ? this.#alike.locate(reading, dateOf) : found;
    return isFailure(place) ? found : place;
  }

  /** The query of a reading; null for one that cannot lead to a door. */
  #query(reading: ParsedAddress, dateOf: DateOf): Query | Failure | null {
    if (reading.kind !== 'street' || reading.number === '' || reading.name === '') return null;
    const record = reading.zip === '' ? null : this.#dataset.zip(Number(reading.zip));
    const state = reading.state || (record?.state ?? '');
    if (state === '' || (reading.zip === '' && reading.city === '')) return null;
    if (isTorn(reading, state)) {
      const end = `its ZIP code or end leads to ${`${state} ${reading.zip}`.trim()}`;
      return fail('address-incomplete', `the address names ${reading.otherPlace}, and ${end}`);
    }
    if (reading.zip !== '' && record?.state !== state) {
      const { streets } = this.#dataset;
      const held =
        streets.hasZip(state, Number(reading.zip)) ||
        streets.statedZip(state, Number(reading.zip), dateOf(state)) !== null ||
        record?.parts.some((part) => this.#dataset.area(part.area).state === state) === true;
      if (!held) {
        return record === null
          ? fail('address-incomplete', `ZIP code ${reading.zip} is not known`)
          : fail('address-incomplete', `ZIP code ${reading.zip} is not in ${state}`);
      }
    }
    return this.#search.query(reading, state, record, dateOf);
  }

  /** The door by the street's name as written, of a range both ends; null when it is not there. */
  #exact(query: Query, dateOf: DateOf, typed: boolean): Situs | Failure | null {
    const found = this.#doorOf(query, query.fold, dateOf, typed);
    const { numberHigh } = query.reading;
    if (numberHigh < 0 || (found !== null && isFailure(found))) return found;
    const wanted = { ...query.wanted, value: numberHigh, text: '' };
    const last = this.#doorOf({ ...query, wanted }, query.fold, dateOf, typed);
    if (found === null || last === null || isFailure(last)) return found ?? last;
    const both = [found.area, last.area];
    return this.#doubts.isAlike(both, dateOf) ? found : failAmbiguous(AMBIGUOUS);
  }

  /**
   * The door on a street. With `typed` the street's type must be the one written: where the name is
   * a guess already, or another reading may have the right one.
   */
  #doorOf(query: Query, fold: string, dateOf: DateOf, typed: boolean): Situs | Failure | null {
    const found = this.#search.find(query, fold);
    if (found.kind === 'nothing' || found.kind === 'street') return null;
    if (typed && !found.from.hasRightStreet) return null;
    if (found.kind === 'ambiguous') return failAmbiguous(AMBIGUOUS);
    const { from, support, rivals } = found;
    const isRivalled = rivals.length > 0 && !this.#doubts.isAlike([from.area, ...rivals], dateOf);
    return isRivalled || this.#doubts.isDoubtful(query, support, from.area, dateOf)
      ? failAmbiguous(CONTRADICTION)
      : this.#writer.write(doorFound(query, from));
  }

  /** The weaker kinds of evidence, tried where no street of the exact name has the number. */
  #weaker(queries: readonly Query[], dateOf: DateOf): Situs | Failure | null {
    const rivals: number[] = [];
    let street: Situs | null = null;
    let known = false;
    for (const query of queries) {
      const found = this.#search.find(query, query.fold);
      const isStreet = found.kind === 'street';
      known ||= isStreet;
      if (street === null && (isStreet || found.kind === 'nothing')) rivals.push(...found.rivals);
      if (!isStreet || street !== null || found.from.streetArea < 0) continue;
      const area = found.from.streetArea;
      const support = isWhereNamed(query, found.from) ? 'agreed' : 'foreign';
      if (this.#doubts.isDoubtful(query, support, area, dateOf)) continue;
      street = this.#writer.write(streetFound(query, found.from));
    }
    if (street !== null && !this.#doubts.isAlike([street.area, ...rivals], dateOf)) street = null;
    const near = known
      ? null
      : (this.#repaired(queries, dateOf) ?? this.#misspelt(queries, dateOf));
    return near ?? this.#zip9(queries, dateOf) ?? street;
  }

  /** The door by a second reading of the street's last word. */
  #repaired(queries: readonly Query[], dateOf: DateOf): Situs | Failure | null {
    for (const query of queries) {
      const reading = repairedReading(query.reading);
      if (reading === null) continue;
      const other = this.#search.query(reading, query.state, query.zipRecord, dateOf);
      const found = this.#exact(other, dateOf, false);
      if (found !== null) return found;
    }
    return null;
  }

  /**
   * The door on a street of another type than the one written; refused where a name one typo away
   * has the number on a street of that type, in a place with other taxes: either may be the slip.
   */
  #unlessMisspelt(found: Situs | Failure, query: Query, dateOf: DateOf): Situs | Failure {
    if (isFailure(found)) return found;
    const doubted = this.#search.similar(query).some((fold) => {
      const other = this.#doorOf(query, fold, dateOf, true);
      if (other === null) return false;
      return isFailure(other) || !this.#doubts.isAlike([found.area, other.area], dateOf);
    });
    return doubted ? failAmbiguous(AMBIGUOUS) : found;
  }

  /** The door on the one street whose name differs by a typo. */
  #misspelt(queries: readonly Query[], dateOf: DateOf): Situs | Failure | null {
    let only: Situs | null = null;
    for (const query of queries) {
      for (const fold of this.#search.similar(query)) {
        const found = this.#doorOf(query, fold, dateOf, true);
        if (found === null) continue;
        if (isFailure(found)) return found;
        if (only !== null && only.normalizedAddress !== found.normalizedAddress) {
          return failAmbiguous(AMBIGUOUS);
        }
        only = found;
      }
      if (only !== null) return only;
    }
    return null;
  }

  #zip9(queries: readonly Query[], dateOf: DateOf): Situs | Failure | null {
    for (const { reading, state } of queries) {
      const found = this.#addOn(reading, state, dateOf);
      if (found !== null) return found;
    }
    return null;
  }

  /** By the ZIP+4 that was sent, as the state's boundary file has it on the day. */
  #addOn(reading: ParsedAddress, state: string, dateOf: DateOf): Situs | Failure | null {
    const { streets } = this.#dataset;
    if (reading.zip === '' || reading.zip4 === '' || !streets.hasState(state)) return null;
    const [zip, plus4] = [Number(reading.zip), Number(reading.zip4)];
    const [area, ...others] = streets.addOn(state, zip, plus4, dateOf(state));
    if (area === undefined) return null;
    if (others.length > 0) return failAmbiguous(AMBIGUOUS);
    return this.#writer.write(addOnFound(reading, state, area));
  }
}
