/**
 * Everything the environment decides. One table, so that the documentation is generated from what
 * the program reads; the only file that touches process.env.
 */
import { resolve } from 'node:path';

export type SettingType = 'text' | 'path' | 'url' | 'integer' | 'key' | 'level' | 'precision';

export interface Setting {
  readonly name: string;
  readonly type: SettingType;
  /** As it would be written in the environment; empty when unset by default. */
  readonly default: string;
  readonly meaning: string;
  readonly min?: number;
  readonly max?: number;
}

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Best first. */
export const MINIMUM_PRECISIONS = [
  'point', 'range', 'zip9', 'street', 'polygon', 'postal',
] as const;
export type MinimumPrecision = (typeof MINIMUM_PRECISIONS)[number];

/** Length of an API key in characters, both included. */
export const KEY_CHARS_MIN = 10;
export const KEY_CHARS_MAX = 100;

export const SETTINGS = [
  { name: 'HOST', type: 'text', default: '127.0.0.1', meaning: 'Address to listen on.' },
  {
    name: 'PORT', type: 'integer', default: '3000', min: 0, max: 65_535,
    meaning: 'TCP port to listen on; 0 takes a free one.',
  },
  {
    name: 'SITUS_VAR', type: 'path', default: './var',
    meaning: 'Folder of datasets and of the store; the only one written to.',
  },
  {
    name: 'SITUS_BOOTSTRAP_KEY', type: 'key', default: '',
    meaning: 'API key made when the store is empty. Without it a random one is printed once.',
  },
  {
    name: 'SITUS_BOOTSTRAP_RATE', type: 'integer', default: '10000', min: 1, max: 100_000_000,
    meaning: 'Requests a minute of that first key.',
  },
  {
    name: 'SITUS_BASE_URL', type: 'url', default: '',
    meaning: 'Public address of the service, put before links in answers.',
  },
  {
    name: 'SITUS_WORKERS', type: 'integer', default: '0', min: 0, max: 256,
    meaning: 'Worker threads that answer lookups; 0 chooses by the number of processors.',
  },
  {
    name: 'SITUS_PRECISION_MIN', type: 'precision', default: 'postal',
    meaning: 'Weakest location still answered: point, range, zip9, street, polygon or postal.',
  },
  {
    name: 'SITUS_ACCOUNT_MESSAGE', type: 'text',
    default: 'To change the plan or its limits, ask the operator of this service.',
    meaning: 'Member message of account metrics: how to change a plan.',
  },
  {
    name: 'SITUS_LOG', type: 'level', default: 'info',
    meaning: 'Least important lines logged to standard error: debug, info, warn or error.',
  },
] as const satisfies readonly Setting[];

export interface Config {
  readonly host: string;
  readonly port: number;
  readonly varDir: string;
  /** Null when the first key is to be random. */
  readonly bootstrapKey: string | null;
  readonly bootstrapRate: number;
  /** Without a slash at the end; the server's own address when unset, empty if that is open. */
  readonly baseUrl: string;
  /** Zero chooses by the number of processors. */
  readonly workers: number;
  readonly precisionMin: MinimumPrecision;
  /** How a caller gets another plan. */
  readonly accountMessage: string;
  readonly logLevel: LogLevel;
}

/** The address listened on, where it is one that a caller can use. */
function ownUrl(host: string, port: number): string {
  if (port === 0 || host === '0.0.0.0' || host === '::') return '';
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

export type Environment = Readonly<Record<string, string | undefined>>;

type SettingName = (typeof SETTINGS)[number]['name'];

const CHECKS: Readonly<Record<SettingType, (value: string, setting: Setting) => string | null>> = {
  text: () => null,
  path: () => null,
  url: (value) => (value === '' || /^https?:\/\/[^\s?#]+$/.test(value)
    ? null : 'must be an http or https URL without query'),
  integer: (value, { min = 0, max = Number.MAX_SAFE_INTEGER }) => {
    const number = Number(value);
    return /^\d+$/.test(value) && number >= min && number <= max
      ? null : `must be a whole number from ${min} to ${max}`;
  },
  key: (value) => (value === '' || (value.length >= KEY_CHARS_MIN && value.length <= KEY_CHARS_MAX)
    ? null : `must have ${KEY_CHARS_MIN} to ${KEY_CHARS_MAX} characters`),
  level: (value) => (isLogLevel(value) ? null : `must be one of ${LOG_LEVELS.join(', ')}`),
  precision: (value) => (isMinimumPrecision(value)
    ? null : `must be one of ${MINIMUM_PRECISIONS.join(', ')}`),
};

function isLogLevel(value: string): value is LogLevel {
  return (LOG_LEVELS as readonly string[]).includes(value);
}

function isMinimumPrecision(value: string): value is MinimumPrecision {
  return (MINIMUM_PRECISIONS as readonly string[]).includes(value);
}

/** The raw value of each setting, checked. Values are never repeated in the error: one is a key. */
function readSettings(environment: Environment): ReadonlyMap<SettingName, string> {
  const values = new Map<SettingName, string>();
  const problems: string[] = [];
  for (const setting of SETTINGS) {
    const given = environment[setting.name];
    const value = given === undefined || given === '' ? setting.default : given;
    const problem = CHECKS[setting.type](value, setting);
    if (problem !== null) problems.push(`${setting.name} ${problem}`);
    values.set(setting.name, value);
  }
  if (problems.length > 0) throw new Error(problems.join('; '));
  return values;
}

/**
 * Reads the configuration once; the result does not change afterwards.
 * @throws Error that names every setting with a bad value.
 */
export function loadConfig(environment: Environment = process.env): Config {
  const values = readSettings(environment);
  const text = (name: SettingName): string => values.get(name) ?? '';
  const logLevel = text('SITUS_LOG');
  const precisionMin = text('SITUS_PRECISION_MIN');
  return Object.freeze({
    host: text('HOST'),
    port: Number(text('PORT')),
    varDir: resolve(text('SITUS_VAR')),
    bootstrapKey: text('SITUS_BOOTSTRAP_KEY') || null,
    bootstrapRate: Number(text('SITUS_BOOTSTRAP_RATE')),
    baseUrl: text('SITUS_BASE_URL').replace(/\/+$/, '')
      || ownUrl(text('HOST'), Number(text('PORT'))),
    workers: Number(text('SITUS_WORKERS')),
    precisionMin: isMinimumPrecision(precisionMin) ? precisionMin : 'postal',
    accountMessage: text('SITUS_ACCOUNT_MESSAGE'),
    logLevel: isLogLevel(logLevel) ? logLevel : 'info',
  });
}

/** Largest request head in bytes. */
const HEAD_BYTES_MAX = 16_384;

/**
 * The native server reads its head limit from the environment when it is loaded, and its default of
 * 4 KiB holds or not depending on how the head was split into packets.
 */
export function setHeadLimit(): void {
  process.env['UWS_HTTP_MAX_HEADERS_SIZE'] ??= String(HEAD_BYTES_MAX);
}
