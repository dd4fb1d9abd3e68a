/**
 * Parses the address of a Redis or Valkey in SITUS_LIMITS:
 * redis://user:password@host:port/database, rediss:// for TLS, unix://user:password@/path for a
 * socket. ?prefix= sets how names of keys begin, where several fleets share a server.
 */
export interface RedisAddress {
  readonly host: string;
  readonly port: number;
  /** Path of a socket; empty for a server with host and port. */
  readonly socket: string;
  readonly username: string;
  readonly password: string;
  readonly database: number;
  readonly tls: boolean;
  readonly prefix: string;
  /** The address for people to read, without user and password. */
  readonly shown: string;
}

const PORT = 6379;
const PREFIX = 'situs';
const ADDRESS = /^(redis|rediss|unix):\/\/(?:([^@/?]*)@)?([^/?]*)(\/[^?]*)?(?:\?([^#]*))?$/;
/** For example "[::1]:6379", "cache.internal:6379", "cache.internal". */
const HOST = /^(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(?::(\d{1,5}))?$/;
const NAME = /^[A-Za-z0-9._-]{1,64}$/;

const EXAMPLES = 'redis://host:6379, rediss://host:6379 or unix:///run/redis.sock';

function bad(what: string): Error {
  return new Error(`SITUS_LIMITS ${what}`);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw bad('has a user or password with a percent sign that is not written as %25');
  }
}

/**
 * Parses the setting.
 * @throws Error that names the setting and never repeats its value, which may contain a password.
 */
export function readRedisAddress(text: string): RedisAddress {
  const [whole, scheme = '', login = '', place = '', path = '', query = ''] =
    ADDRESS.exec(text) ?? [];
  if (whole === undefined) throw bad(`must be like ${EXAMPLES}`);
  const options = new URLSearchParams(query);
  for (const name of options.keys()) {
    if (name !== 'prefix' && name !== 'db') throw bad(`knows no option ${name.slice(0, 20)}`);
  }
  const prefix = options.get('prefix') ?? PREFIX;
  if (!NAME.test(prefix)) throw bad('has a prefix that is no plain name');
  const isSocket = scheme === 'unix';
  const number = options.get('db') ?? (isSocket ? '' : path.slice(1));
  if (!/^\d{0,4}$/.test(number)) throw bad('has a database that is no number');
  const [, host = '', port = String(PORT)] = HOST.exec(place) ?? [];
  const unreachable = isSocket ? place !== '' || path.length < 2 : host === '';
  if (unreachable) throw bad(`must be like ${EXAMPLES}`);
  if (Number(port) < 1 || Number(port) > 65_535) throw bad('has a port that is none');
  const colon = login.indexOf(':');
  return {
    host: host.replace(/^\[|\]$/g, ''),
    port: Number(port),
    socket: isSocket ? path : '',
    username: decoded(colon < 0 ? login : login.slice(0, colon)),
    password: colon < 0 ? '' : decoded(login.slice(colon + 1)),
    database: Number(number),
    tls: scheme === 'rediss',
    prefix,
    shown: isSocket ? `unix://${path}` : `${scheme}://${host}:${port}`,
  };
}
