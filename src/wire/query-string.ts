/**
 * Splits a raw query string into the parameters that lookups know. Of a repeated parameter the
 * first value counts; an empty value counts as a parameter that was not sent.
 */

/** Parameters of lookups as decoded text; null where absent. */
export interface RawParameters {
  format: string | null;
  countryCode: string | null;
  postalcode: string | null;
  address: string | null;
  state: string | null;
  stateCode: string | null;
  city: string | null;
  county: string | null;
  lat: string | null;
  lng: string | null;
  adjustment: string | null;
  sat_item_total: string | null;
  historical: string | null;
  taxabilityCode: string | null;
  addressDetailExtended: string | null;
  shippingExtended: string | null;
  explain: string | null;
  /** An address was sent, if only an empty one. */
  addressSent: boolean;
  /** Known parameters whose value is no valid percent-encoded UTF-8. */
  undecodable: readonly ParameterName[];
}

export type ParameterName = Exclude<keyof RawParameters, 'addressSent' | 'undecodable'>;

const NO_NAMES: readonly ParameterName[] = [];

const NAMES: readonly ParameterName[] = [
  'format', 'countryCode', 'postalcode', 'address', 'state', 'stateCode', 'city', 'county', 'lat',
  'lng', 'adjustment', 'sat_item_total', 'historical', 'taxabilityCode', 'addressDetailExtended',
  'shippingExtended', 'explain',
];
const NO_VALUES: readonly (string | null)[] = NAMES.map(() => null);
/** Position of a name in `NAMES`: filling an array by number is faster than members by name. */
const POSITIONS: ReadonlyMap<string, number> = new Map(NAMES.map((name, index) => [name, index]));
const ADDRESS = NAMES.indexOf('address');

/** What has been found so far. */
interface Found {
  readonly values: (string | null)[];
  addressSent: boolean;
  undecodable: readonly ParameterName[];
}

function named({ values, addressSent, undecodable }: Found): RawParameters {
  const at = (index: number): string | null => values[index] ?? null;
  return {
    format: at(0), countryCode: at(1), postalcode: at(2), address: at(3), state: at(4),
    stateCode: at(5), city: at(6), county: at(7), lat: at(8), lng: at(9), adjustment: at(10),
    sat_item_total: at(11), historical: at(12), taxabilityCode: at(13),
    addressDetailExtended: at(14), shippingExtended: at(15), explain: at(16), addressSent,
    undecodable,
  };
}

const AMPERSAND = 38;
const EQUALS = 61;
const PLUS = 43;
const SPACE = 32;
const PERCENT = 37;
const ASCII_MAX = 127;

/**
 * Decodes '+' and percent sequences; `raw` has one character per byte. Bytes above ASCII that were
 * sent bare are read as UTF-8 like encoded ones. Null when it is not valid.
 */
export function decodeValue(raw: string): string | null {
  const bare = raw.replaceAll('+', ' ')
    .replace(/[\x80-\uffff]/g, (char) => {
      const byte = char.charCodeAt(0);
      return byte > 255 ? encodeURIComponent(char) : `%${byte.toString(16).padStart(2, '0')}`;
    });
  try {
    return decodeURIComponent(bare);
  } catch {
    return null;
  }
}

function hexDigit(code: number): number {
  if (code >= 48 && code <= 57) return code - 48;
  const letter = code | 32;
  return letter >= 97 && letter <= 102 ? letter - 87 : -1;
}

/** Where values are put together; longer ones take the long way. */
const DECODED = Buffer.allocUnsafeSlow(1024);

/** The common case of `decodeValue`, ASCII throughout; null for anything else. */
function decodeAscii(raw: string): string | null {
  if (raw.length > DECODED.length) return null;
  let length = 0;
  for (let at = 0; at < raw.length; at += 1) {
    let code = raw.charCodeAt(at);
    if (code === PLUS) {
      code = SPACE;
    } else if (code === PERCENT) {
      const high = hexDigit(raw.charCodeAt(at + 1));
      const low = hexDigit(raw.charCodeAt(at + 2));
      if (high < 0 || high > 7 || low < 0) return null;
      code = high * 16 + low;
      at += 2;
    } else if (code > ASCII_MAX) {
      return null;
    }
    DECODED[length] = code;
    length += 1;
  }
  return DECODED.toString('latin1', 0, length);
}

function store(into: Found, key: string, raw: string, coded: boolean): void {
  const name = key.includes('%') ? decodeValue(key) : key;
  const index = name === null ? undefined : POSITIONS.get(name);
  if (index === undefined) return;
  if (index === ADDRESS) into.addressSent = true;
  if (raw === '' || into.values[index] !== null) return;
  const value = coded ? decodeAscii(raw) ?? decodeValue(raw) : raw;
  const parameter = NAMES[index];
  if (value !== null) into.values[index] = value;
  else if (parameter !== undefined) into.undecodable = [...into.undecodable, parameter];
}

/** Reads the known parameters of a query string without its '?'. */
export function readParameters(text: string): RawParameters {
  const found: Found = {
    values: NO_VALUES.slice(), addressSent: false, undecodable: NO_NAMES,
  };
  const { length } = text;
  let start = 0;
  let equals = -1;
  let coded = false;
  for (let at = 0; at <= length; at += 1) {
    const char = at === length ? AMPERSAND : text.charCodeAt(at);
    if (char === AMPERSAND) {
      const end = equals < 0 ? at : equals;
      if (end > start) {
        const value = equals < 0 ? '' : text.slice(equals + 1, at);
        store(found, text.slice(start, end), value, coded);
      }
      start = at + 1;
      equals = -1;
      coded = false;
    } else if (equals < 0) {
      if (char === EQUALS) equals = at;
    } else if (char === PLUS || char === PERCENT || char > ASCII_MAX) {
      coded = true;
    }
  }
  return named(found);
}
