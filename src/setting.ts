/**
 * Kinds of settings, the checks of their values, and names in the environment that only look like
 * settings.
 */
import { closestMatch } from 'leven';

type SettingType =
  | 'text'
  | 'path'
  | 'url'
  | 'integer'
  | 'key'
  | 'level'
  | 'precision'
  | 'choice'
  | 'secret'
  | 'secrets'
  | 'store';

export interface Setting {
  readonly name: string;
  readonly type: SettingType;
  /** The value as it would be written in the environment; empty when unset by default. */
  readonly default: string;
  readonly meaning: string;
  readonly min?: number;
  readonly max?: number;
  /** The words that a `choice` may be. */
  readonly choices?: readonly string[];
}

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** The ways a location may be found, best first; a caller may state the weakest that it accepts. */
export const MINIMUM_PRECISIONS = [
  'point',
  'range',
  'zip9',
  'street',
  'polygon',
  'postal',
  'city',
] as const;
export type MinimumPrecision = (typeof MINIMUM_PRECISIONS)[number];

export const TRANSPORT_CHOICES = ['auto', 'native', 'node'] as const;
export type TransportChoice = (typeof TRANSPORT_CHOICES)[number];

/** The shortest and longest API key, in characters. */
export const KEY_CHARS_MIN = 10;
export const KEY_CHARS_MAX = 100;

type Check = (value: string, setting: Setting) => string | null;

const DATABASE_PROTOCOLS = new Set(['postgres:', 'postgresql:']);
const SCHEMA = /^[a-z_][a-z0-9_]{0,62}$/;

/**
 * What is wrong with the address of a database; null when nothing is. The address is not repeated,
 * as it may be secret.
 */
export function databaseProblem(text: string): string | null {
  if (!URL.canParse(text)) return 'is no address like postgres://USER:PASSWORD@HOST/DATABASE';
  const { protocol, pathname, searchParams } = new URL(text);
  if (!DATABASE_PROTOCOLS.has(protocol)) return 'must begin with postgres://';
  if (pathname.length < 2) return 'names no database behind the host';
  return SCHEMA.test(searchParams.get('schema') ?? 'situs')
    ? null
    : 'has a schema that is not of small letters, digits and underscores';
}

/** What is wrong with a value, for each type; null when it can be used. */
export const CHECKS: Readonly<Record<SettingType, Check>> = {
  text: () => null,
  path: () => null,
  url: (value) =>
    value === '' || /^https?:\/\/[^\s?#]+$/.test(value)
      ? null
      : 'must be an http or https URL without query',
  integer: (value, { min = 0, max = Number.MAX_SAFE_INTEGER }) => {
    const number = Number(value);
    return /^\d+$/.test(value) && number >= min && number <= max
      ? null
      : `must be a whole number from ${min} to ${max}`;
  },
  key: (value) =>
    value === '' || (value.length >= KEY_CHARS_MIN && value.length <= KEY_CHARS_MAX)
      ? null
      : `must have ${KEY_CHARS_MIN} to ${KEY_CHARS_MAX} characters`,
  store: (value) => (value === '' ? null : databaseProblem(value)),
  secret: (value) => (value === '' || isSecret(value) ? null : 'must be 32 bytes in base64'),
  secrets: (value) =>
    value === '' || value.split(',').every(isSecret)
      ? null
      : 'must be keys of 32 bytes in base64, with commas between',
  level: (value) => (isLogLevel(value) ? null : `must be one of ${LOG_LEVELS.join(', ')}`),
  choice: (value, { choices = [] }) =>
    choices.includes(value) ? null : `must be one of ${choices.join(', ')}`,
  precision: (value) =>
    isMinimumPrecision(value) ? null : `must be one of ${MINIMUM_PRECISIONS.join(', ')}`,
};

const SECRET_BYTES = 32;

/** Whether a text is 32 bytes in base64, with or without padding. */
function isSecret(text: string): boolean {
  return /^[A-Za-z0-9+/]{43}=?$/.test(text) && secretBytes(text).length === SECRET_BYTES;
}

/** The bytes of a secret in base64. */
export function secretBytes(text: string): Uint8Array {
  return Buffer.from(text, 'base64');
}

/** Tells a log level from any other word. */
export function isLogLevel(value: string): value is LogLevel {
  return (LOG_LEVELS as readonly string[]).includes(value);
}

/** Tells a precision that may be required from any other word. */
export function isMinimumPrecision(value: string): value is MinimumPrecision {
  return (MINIMUM_PRECISIONS as readonly string[]).includes(value);
}

/** The HTTP server that a checked word stands for. */
export function transportChoice(value: string): TransportChoice {
  return TRANSPORT_CHOICES.find((choice) => choice === value) ?? 'auto';
}

/** The server's own address; empty where that is none that a caller can use. */
export function ownUrl(host: string, port: number, tls = false): string {
  if (port === 0 || host === '0.0.0.0' || host === '::') return '';
  return `${tls ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** An address that works on this machine, such as "http://127.0.0.1:3000". */
export function localUrl(host: string, port: number, tls = false): string {
  return ownUrl(host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host, port, tls);
}

const PORT_MAX = 65_535;

/** What is wrong with the values of settings that can be used alone, but not together. */
export function jointProblems(values: ReadonlyMap<string, string>): readonly string[] {
  const value = (name: string): string => values.get(name) ?? '';
  const problems: string[] = [];
  if ((value('SITUS_TLS_CERT') === '') !== (value('SITUS_TLS_KEY') === '')) {
    problems.push('SITUS_TLS_CERT and SITUS_TLS_KEY need one another');
  }
  // Each listener has a port of its own for metrics, from that of the setting up.
  const port = Number(/:(\d+)$/.exec(value('SITUS_METRICS'))?.[1] ?? 0);
  const last = port + Number(value('SITUS_LISTENERS')) - 1;
  if (port > 0 && port <= PORT_MAX && last > PORT_MAX) {
    problems.push(
      `SITUS_METRICS must leave each of SITUS_LISTENERS a port: the last would have ${last}, ` +
        `above ${PORT_MAX}`,
    );
  }
  return problems;
}

// Names in the environment that look like settings but are none. A misspelt setting would go
// unnoticed: a limit would not apply, or a folder would not be used.

const PREFIX = 'SITUS_';
/** How many letters may differ from the name that was meant. */
const LETTERS_MAX = 5;
/** How many letters are a slip in typing; with no more, no other name is considered. */
const TYPING_MAX = 2;
/** A shorter word is not looked for in what settings mean. */
const WORD_LETTERS_MIN = 4;

/** Variables for tests of this program, which programs started by tests inherit. */
const OF_TESTS = /^SITUS_(?:GOLDEN|DOCS|TEST_[A-Z]+)$/;

/**
 * Variables that Kubernetes and Docker set where a service is named "situs…": SITUS_SERVICE_HOST,
 * SITUS_PORT=tcp://…, SITUS_PORT_3000_TCP_ADDR.
 */
const OF_SERVICE = /_SERVICE_(?:HOST|PORT(?:_[A-Z0-9_]+)?)$|_PORT_[0-9]+_(?:TCP|UDP|SCTP)(?:_|$)/;
const SERVICE_URL = /^(?:tcp|udp|sctp):\/\//;

function isLinked(name: string, value: string): boolean {
  return OF_SERVICE.test(name) || (name.endsWith('_PORT') && SERVICE_URL.test(value));
}

/** A word without what tells several from one, so that SITUS_PROXY means SITUS_PROXIES. */
const stemOf = (word: string): string => word.replace(/(?:IES|Y|S)$/, '');

/** The words of a name without the prefix, so that SITUS_PORT is recognised as PORT. */
function wordsOf(name: string): readonly string[] {
  return (name.startsWith(PREFIX) ? name.slice(PREFIX.length) : name).split('_');
}

/** How many words at the beginning of two names are equal or begin one another. */
function commonWords(one: readonly string[], other: readonly string[]): number {
  const differs = one.findIndex((word, at) => {
    const beside = other[at] ?? '';
    return (
      beside === '' ||
      !(word.startsWith(beside) || beside.startsWith(word) || stemOf(word) === stemOf(beside))
    );
  });
  return differs < 0 ? one.length : differs;
}

/** The only setting whose meaning has a word that begins like this; SITUS_REDIS is SITUS_LIMITS. */
function meaningOf(word: string, settings: readonly Setting[]): string | undefined {
  const begin = word.toLowerCase();
  const [found, other] = settings.filter(({ meaning }) =>
    meaning
      .toLowerCase()
      .split(/\W+/)
      .some((each) => each.startsWith(begin)),
  );
  return word.length < WORD_LETTERS_MIN || other !== undefined ? undefined : found?.name;
}

/** The setting that was most likely meant. */
function meantBy(name: string, settings: readonly Setting[]): string | undefined {
  const names = settings.map((each) => each.name);
  const words = wordsOf(name);
  const bare = words.join('_');
  if (bare === '' || names.includes(bare)) return bare || undefined;
  if (names.includes(name.toUpperCase())) return name.toUpperCase();
  // In a short name fewer letters may differ, or nothing would be left in common.
  const lettersMax = Math.min(LETTERS_MAX, Math.floor(bare.length / 2));
  const longer = names.filter((each) => each.startsWith(`${name}_`));
  const shorter = names.filter((each) => name.startsWith(`${each}_`));
  // SITUS_CERT means SITUS_TLS_CERT.
  const ending = names.filter(
    (each) => each.endsWith(`_${bare}`) || bare.endsWith(`_${wordsOf(each).join('_')}`),
  );
  // Among equally near names, one that the given name begins with wins: SITUS_LOGLEVEL means
  // SITUS_LOG.
  const begun = names.filter((each) => name.startsWith(each));
  const common = names.map((each) => commonWords(words, wordsOf(each)));
  const most = Math.max(1, ...common);
  return (
    closestMatch(name, longer) ??
    closestMatch(name, names, { maxDistance: TYPING_MAX }) ??
    closestMatch(name, shorter) ??
    closestMatch(name, [...begun, ...names], { maxDistance: lettersMax }) ??
    closestMatch(name, ending) ??
    // Among names with most words in common, the nearest: SITUS_TLS_CERTIFICATE means
    // SITUS_TLS_CERT.
    closestMatch(
      name,
      names.filter((_, at) => common[at] === most),
    ) ??
    meaningOf(bare, settings)
  );
}

/**
 * A sentence for each name that begins like a setting, in letters of either case, but is none, by
 * that name. Values are not repeated.
 */
export function unknownSettings(
  environment: Readonly<Record<string, string | undefined>>,
  settings: readonly Setting[],
): ReadonlyMap<string, string> {
  const names = settings.map(({ name }) => name);
  const unknown = Object.entries(environment).filter(
    ([name, value = '']) =>
      name.toUpperCase().startsWith(PREFIX) &&
      !names.includes(name) &&
      !OF_TESTS.test(name) &&
      !isLinked(name, value),
  );
  return new Map(
    unknown.map(([name]) => {
      const meant = meantBy(name, settings);
      return [
        name,
        `${name} is no setting${meant === undefined ? '' : `; did you mean ${meant}?`}`,
      ];
    }),
  );
}

/** The settings without unknown names, and a sentence for each unknown name. */
export interface SettingsAlone {
  readonly known: Readonly<Record<string, string | undefined>>;
  readonly problems: readonly string[];
}

/** Separates settings from names that only look like settings (`unknownSettings`). */
export function withoutUnknown(
  environment: SettingsAlone['known'],
  settings: readonly Setting[],
): SettingsAlone {
  const unknown = unknownSettings(environment, settings);
  const known = Object.entries(environment).filter(([name]) => !unknown.has(name));
  return { known: Object.fromEntries(known), problems: [...unknown.values()] };
}
