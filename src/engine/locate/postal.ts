/**
 * Locates by ZIP (`postal`), only where no choice of area could make the answer wrong, and without
 * a ZIP by the city's name.
 */
import type { ParsedAddress } from '../../address/parsed.js';
import { foldName } from '../../address/place-name.js';
import { titleCase } from '../../address/title-case.js';
import { ownText } from '../../base/own-text.js';
import { RecentCache } from '../../base/tables.js';
import type { Dataset } from '../../dataset/dataset.js';
import type { AreaRecord, ZipRecord } from '../../dataset/records.js';
import type { StatedZip } from '../../dataset/stated-areas.js';
import { fail, failAmbiguous, type Failure, isFailure } from '../../failure.js';
import type { DateInt } from '../../tax/date.js';
import type { Situs } from '../situs.js';
import { type DateOf, type Doubts, withoutSlivers } from './doubt.js';
import {
  areasOf,
  certain,
  type Chosen,
  CitiesByName,
  likeliestPart,
  ownFailure,
  several,
  situsIn,
  statedCandidate,
  weighed,
  type Weighed,
  within,
  type ZipAreas,
  type ZipCandidate,
} from './likeliest.js';

/** Choices in a generation of the cache of each dataset. */
const CHOICES_MAX = 8_192;
/** Longest place that is cached: longer than any ZIP, state and city together. */
const PLACE_LENGTH_MAX = 64;

/**
 * Share of a ZIP that is enough for a city other than the ZIP's postal one, since it is named on
 * purpose.
 */
const NAMED_PPM_MIN = 333_333;

/** The area that a ZIP, state and city lead to, and the days for which it was chosen. */
interface Choice {
  readonly found: Chosen | Failure;
  /** The city as an address writes it. */
  readonly city: string;
  /** The day that `dateOf` gave for each state; on other days the area may be different. */
  readonly days: readonly (readonly [state: string, day: DateInt])[];
}

/** Locates addresses of one dataset by ZIP or city. Remembers the choices. */
export class PostalLocator {
  readonly #dataset: Dataset;
  readonly #doubts: Doubts;
  readonly #cities: CitiesByName;
  readonly #choices = new RecentCache<string, Choice>(CHOICES_MAX);

  constructor(dataset: Dataset, doubts: Doubts) {
    this.#dataset = dataset;
    this.#doubts = doubts;
    this.#cities = new CitiesByName(dataset, doubts);
  }

  /**
   * Locates an address by its ZIP, else by city and state.
   *
   * - What the state's boundary file says of the ZIP is certain, where all it states there is taxed
   *   alike on the day. Else what it states is possible beside what boundaries say. It decides
   *   alone of ZIPs that no list has, for addresses that name its state.
   * - One tax area, or several with equal known totals: certain. Where rows differ under equal
   *   totals the area of the named city is taken, else the ZIP's first (largest) part. Areas that
   *   the ZIP may reach count as much as its parts.
   * - Else the rate that most of the ZIP has is assumed, if that is likely enough: in the city that
   *   is named where it has that rate, else in the largest part that has (decisions part 3). An
   *   address without a city, or with one of the state that is not the ZIP's, is refused.
   * - An incorporated city that is in the ZIP and not its postal name is assumed to be meant.
   * - Where the extent of the ZIP is not known, a named incorporated city in one of its counties
   *   counts as one more area: cities of such a ZIP are known less well than counties.
   * - Never across a state line; where a ZIP spans one, the land beyond makes it less certain.
   *   Streets without a house number are incomplete.
   *
   * `dateOf` gives the day to compare rates on, per state.
   */
  locate(reading: ParsedAddress, dateOf: DateOf): Situs | Failure {
    if (reading.kind === 'street' && reading.number === '') {
      return fail('address-incomplete', 'the street has no house number');
    }
    if (reading.kind === 'military') {
      return fail('address-incomplete', 'military addresses lie in no tax area of a state');
    }
    const { found, city } = this.#choice(reading, dateOf);
    return isFailure(found) ? found : situsIn(reading, found, city);
  }

  /** The choice for the reading's place, which is remembered for the next address there. */
  #choice(reading: ParsedAddress, dateOf: DateOf): Choice {
    const place = `${reading.zip}|${reading.state}|${reading.city}`;
    const known = this.#choices.get(place);
    if (known !== undefined && holds(known, dateOf)) return known;
    const made = this.#choose(reading, dateOf);
    if (place.length > PLACE_LENGTH_MAX) return made;
    const { found, city, days } = made;
    const kept = isFailure(found) ? { found: ownFailure(found), city, days } : made;
    this.#choices.set(ownText(place), kept);
    return made;
  }

  /** The choice depends only on the reading's ZIP, state and city. */
  #choose(reading: ParsedAddress, dateOf: DateOf): Choice {
    const days = new Map<string, DateInt>();
    const noted: DateOf = (state) => {
      const day = dateOf(state);
      days.set(state, day);
      return day;
    };
    const record = reading.zip === '' ? null : this.#dataset.zip(Number(reading.zip));
    const found =
      reading.zip === ''
        ? this.#cities.locate(reading, noted)
        : record === null
          ? this.#unlisted(reading, 'is not known', noted)
          : this.#agreed(this.#byZip(record, reading, noted), record, reading, noted);
    const city = isFailure(found) ? '' : this.#nameOf(found.candidate.area, reading.city, record);
    return { found, city, days: [...days] };
  }

  /**
   * The named city, if it exists; otherwise the ZIP's own, or the city that was chosen if a name
   * that no place has led to another one.
   */
  #nameOf(area: AreaRecord, named: string, zip: ZipRecord | null): string {
    const known = named === '' ? null : this.#cities.find(area.state, named);
    if (known !== null) return known.name;
    const [first = ''] = zip?.cities ?? [];
    const own = first === '' ? null : this.#cities.find(area.state, first);
    const areas = own?.areas ?? [];
    const isOther = areas.length > 0 && !areas.includes(area.id);
    if (isOther && named !== '' && area.incorporated) return area.placeName;
    return own?.name ?? titleCase(first);
  }

  /** The certain choice for a ZIP, which is doubted if the named city is another place. */
  #agreed(
    found: Chosen | Failure,
    record: ZipRecord,
    { city, zip }: ParsedAddress,
    dateOf: DateOf,
  ): Chosen | Failure {
    if (isFailure(found) || found.assumed !== null) return found;
    const { candidate } = found;
    const other = this.#doubts.elsewhere(city, record, candidate.area, dateOf);
    if (other === null) return found;
    const assumed = this.#doubts.range([candidate.area, ...other.areas], dateOf);
    return other.isNear && assumed !== null
      ? { kind: 'chosen', candidate, assumed }
      : failAmbiguous(
          `ZIP code ${zip} is far from ${titleCase(city)}, which is ` +
            'taxed otherwise: check both',
        );
  }

  #byZip(record: ZipRecord, reading: ParsedAddress, dateOf: DateOf): Chosen | Failure {
    const all = withoutSlivers(record.parts).map(
      (part): ZipCandidate => ({ ...part, area: this.#dataset.area(part.doubt ?? part.area) }),
    );
    const states = [...new Set(all.map((part) => part.area.state))].sort();
    if (states.length === 0) {
      return this.#unlisted(reading, 'lies in no known tax area', dateOf);
    }
    if (reading.state === '' && states.length > 1) {
      const choice = states.join(', ');
      return failAmbiguous(`ZIP ${reading.zip} spans ${choice}: name the state`);
    }
    const parts =
      reading.state === '' ? all : all.filter((part) => part.area.state === reading.state);
    const state = parts[0]?.area.state;
    if (state === undefined) {
      const lies = states.join(', ');
      return fail('address-incomplete', `ZIP ${reading.zip} lies in ${lies}, not ${reading.state}`);
    }
    const isKnown = all.some(({ weight, land }) => (weight ?? land) !== null);
    const beyond = record.reach.map(
      ({ area, land }): Weighed => ({ area: this.#dataset.area(area), share: land }),
    );
    // Parts across the state line: addresses there may be written with the post office's state.
    const abroad = all
      .filter(
        ({ area, weight, land }) => area.state !== state && (weight ?? land ?? Number(isKnown)) > 0,
      )
      .map(weighed);
    const beside = isKnown
      ? [...beyond, ...abroad]
      : beyond.filter(({ area }) => area.state === state);
    const { streets } = this.#dataset;
    const stated = streets.hasState(state)
      ? streets.statedZip(state, record.zip, dateOf(state))
      : null;
    const said = (stated?.all ?? []).map((id) => ({ area: this.#dataset.area(id), share: 0 }));
    return (
      this.#stated(reading, stated, parts, areasOf([...said, ...abroad]), dateOf) ??
      this.#amongParts(reading, { record, parts, beside: [...beside, ...said], isKnown }, dateOf)
    );
  }

  /** For a ZIP whose land is not known: the boundary file of the named state may have a record. */
  #unlisted(reading: ParsedAddress, why: string, dateOf: DateOf): Chosen | Failure {
    const { state, zip } = reading;
    const { streets } = this.#dataset;
    const stated = streets.hasState(state)
      ? streets.statedZip(state, Number(zip), dateOf(state))
      : null;
    const areas = (stated?.all ?? []).map((area) => ({ area: this.#dataset.area(area) }));
    const found = this.#stated(reading, stated, [], areasOf(areas), dateOf);
    if (found !== null) return found;
    return stated === null || areas.length === 0
      ? fail('address-incomplete', `ZIP ${zip} ${why}`)
      : failAmbiguous(
          `ZIP ${zip} is known from ${state}'s boundary file alone, ` +
            'which has no one rate for all of it, and the address was not found',
        );
  }

  /** By the state's own record of the ZIP, if all `possible` areas are taxed the same. */
  #stated(
    { city }: ParsedAddress,
    stated: StatedZip | null,
    parts: readonly ZipCandidate[],
    possible: readonly AreaRecord[],
    dateOf: DateOf,
  ): Chosen | null {
    if (!stated?.own.length) return null;
    if (this.#doubts.compare(possible, dateOf) !== 'equal') return null;
    const areas = [...stated.own, ...stated.all].map((area) => this.#dataset.area(area));
    return { ...certain([statedCandidate(areas, foldName(city), parts)]), stated: true };
  }

  #amongParts(reading: ParsedAddress, zip: ZipAreas, dateOf: DateOf): Chosen | Failure {
    const { parts, beside, isKnown } = zip;
    const name = foldName(reading.city);
    const cityAreas = this.#cities.candidates(parts[0]!.area.state, reading.city, []);
    const named = parts.filter(
      (part) =>
        part.incorporated &&
        (foldName(part.city) === name || cityAreas.some((city) => city.area.id === part.area.id)),
    );
    const others = named.length > 0 || isKnown ? [] : within(cityAreas, parts);
    const possible = [...areasOf([...parts, ...others]), ...beside.map(({ area }) => area)];
    const compared = this.#doubts.compare(possible, dateOf);
    // If a city has this name, land outside it is only called so by the post office.
    const isCityName = named.length > 0 || cityAreas.length > 0;
    const labelled = parts.filter(
      (part) => !isCityName && !part.incorporated && foldName(part.city) === name,
    );
    if (compared === 'equal') {
      // Municipalities of Puerto Rico are counties, and a ZIP may reach into several.
      const county = labelled.filter(({ area }) => foldName(area.countyName) === name);
      const best = [named, county, labelled].find(({ length }) => length > 0);
      return certain(best ?? parts);
    }
    // A name that no place of the state has does not contradict the ZIP.
    const isOwn =
      zip.record.cities.some((city) => foldName(city) === name) ||
      (name !== '' &&
        named.length === 0 &&
        this.#cities.find(parts[0]!.area.state, reading.city) === null);
    const chosen =
      isKnown && isOwn
        ? likeliestPart(zip, [...named, ...labelled], (area) => this.#doubts.total(area, dateOf))
        : this.#meant(zip, named, dateOf);
    const range = chosen === null ? null : this.#doubts.range(possible, dateOf);
    if (chosen !== null && range !== null) {
      return { kind: 'chosen', candidate: chosen, assumed: range };
    }
    return compared === 'different'
      ? several(reading.zip === '' ? reading.city : reading.zip)
      : compared;
  }

  /** The first part of a city that was named on purpose, if its parts are taxed the same. */
  #meant(
    { isKnown }: ZipAreas,
    named: readonly ZipCandidate[],
    dateOf: DateOf,
  ): ZipCandidate | null {
    const share = named.reduce((sum, part) => sum + weighed(part).share, 0);
    const [part] = named;
    if (part === undefined || (isKnown && share < NAMED_PPM_MIN)) return null;
    return this.#doubts.compare(areasOf(named), dateOf) === 'equal' ? part : null;
  }
}

function holds({ days }: Choice, dateOf: DateOf): boolean {
  for (const [state, day] of days) {
    if (dateOf(state) !== day) return false;
  }
  return true;
}
