/** Kinds of settings, and what a value of each must look like. */

export type SettingType =
  | 'text' | 'path' | 'url' | 'integer' | 'key' | 'level' | 'precision' | 'choice'
  | 'secret' | 'secrets';

export interface Setting {
  readonly name: string;
  readonly type: SettingType;
  /** As it would be written in the environment; empty when unset by default. */
  readonly default: string;
  readonly meaning: string;
  readonly min?: number;
  readonly max?: number;
  /** What a `choice` may be. */
  readonly choices?: readonly string[];
}

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Best first. */
export const MINIMUM_PRECISIONS = [
  'point', 'range', 'zip9', 'street', 'polygon', 'postal', 'city',
] as const;
export type MinimumPrecision = (typeof MINIMUM_PRECISIONS)[number];

/** Length of an API key in characters, both included. */
export const KEY_CHARS_MIN = 10;
export const KEY_CHARS_MAX = 100;

type Check = (value: string, setting: Setting) => string | null;

/** What is wrong with a value, by type; null when it can be used. */
export const CHECKS: Readonly<Record<SettingType, Check>> = {
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
  secret: (value) => (value === '' || isSecret(value) ? null : 'must be 32 bytes in base64'),
  secrets: (value) => (value === '' || value.split(',').every(isSecret)
    ? null : 'must be keys of 32 bytes in base64, with commas between'),
  level: (value) => (isLogLevel(value) ? null : `must be one of ${LOG_LEVELS.join(', ')}`),
  choice: (value, { choices = [] }) => (choices.includes(value)
    ? null : `must be one of ${choices.join(', ')}`),
  precision: (value) => (isMinimumPrecision(value)
    ? null : `must be one of ${MINIMUM_PRECISIONS.join(', ')}`),
};

const SECRET_BYTES = 32;

/** Tells 32 bytes in base64, with or without padding. */
function isSecret(text: string): boolean {
  return /^[A-Za-z0-9+/]{43}=?$/.test(text) && secretBytes(text).length === SECRET_BYTES;
}

/** The bytes of a secret in base64. */
export function secretBytes(text: string): Uint8Array {
  return Buffer.from(text, 'base64');
}

/** Tells a level of the log from any other word. */
export function isLogLevel(value: string): value is LogLevel {
  return (LOG_LEVELS as readonly string[]).includes(value);
}

/** Tells a precision that can be asked for from any other word. */
export function isMinimumPrecision(value: string): value is MinimumPrecision {
  return (MINIMUM_PRECISIONS as readonly string[]).includes(value);
}

/** The address listened on, where it is one that a caller can use. */
export function ownUrl(host: string, port: number, tls = false): string {
  if (port === 0 || host === '0.0.0.0' || host === '::') return '';
  return `${tls ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** "http://127.0.0.1:3000": an address that works on this machine. */
export function localUrl(host: string, port: number, tls = false): string {
  return ownUrl(host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host, port, tls);
}
