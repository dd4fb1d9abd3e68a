/**
 * Makes connections through the guard. It is a file apart because the library that it uses takes
 * longer to load than all else at a start, and most services call nobody.
 */
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { Readable } from 'node:stream';
import { buildConnector } from 'undici';
import {
  addressRefusal,
  bareHost,
  CONNECT_MS_MAX,
  type Connect,
  type GuardOptions,
  type Resolve,
} from './guard.js';

/** How many addresses of a name are tried. */
export const ADDRESSES_MAX = 4;

/** The error of a connection that the guard refuses. */
class RefusedAddressError extends Error {
  override readonly name = 'RefusedAddressError';
  readonly code = 'SITUS_REFUSED_ADDRESS';
}

const resolveName: Resolve = async (name) => {
  const found = await lookup(name, { all: true });
  return found.map(({ address }) => address);
};

/**
 * The addresses of a name. There is a time limit, since the system's resolver may take minutes and
 * cannot be stopped.
 */
async function addressesOf(name: string, options: GuardOptions): Promise<readonly string[]> {
  const { resolve = resolveName, connectMs = CONNECT_MS_MAX } = options;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    const error = Object.assign(new Error('the name was not resolved'), { code: 'ETIMEDOUT' });
    timer = setTimeout(() => reject(error), connectMs);
  });
  try {
    return await Promise.race([resolve(name), late]);
  } finally {
    clearTimeout(timer);
  }
}

/** The addresses of a host that may be connected to. */
async function permitted(host: string, options: GuardOptions): Promise<readonly string[]> {
  const { allowPrivate } = options;
  const addresses = isIP(host) === 0 ? await addressesOf(host, options) : [host];
  const allowed = addresses.filter((address) => addressRefusal(address, allowPrivate) === null);
  if (allowed.length > 0) return allowed.slice(0, ADDRESSES_MAX);
  const ranges = addresses.map((address) => addressRefusal(address, allowPrivate) ?? '');
  throw new RefusedAddressError(
    `no address may be connected to (${[...new Set(ranges)].join(', ') || 'none found'})`,
  );
}

/**
 * Makes a connection read at most a piece of 64 KiB in a turn of the event loop; with TLS, also the
 * rest of a record. Otherwise up to 32 pieces are read in a row, 2 MiB at once, while every other
 * request waits. A stream stops reading when `push` returns false, so that is returned for every
 * piece, and reading goes on in the next turn.
 */
function readsOnceATurn<S extends Readable>(socket: S): S {
  const [read, push] = [socket._read.bind(socket), socket.push.bind(socket)];
  socket._read = (size) => {
    setImmediate(() => {
      if (!socket.destroyed) read(size);
    });
  };
  socket.push = (piece, encoding) => {
    push(piece, encoding);
    return false;
  };
  return socket;
}

/**
 * A connector for undici's clients and agents: `new Agent({ connect: guardedConnect(…) })`. TLS
 * still verifies the name, and the Host field still contains it. Several addresses are tried in
 * turn.
 */
export function guardedConnect(options: GuardOptions): Connect {
  const dial =
    options.dial ??
    buildConnector({
      timeout: options.connectMs ?? CONNECT_MS_MAX,
      // Stated here, so that no environment variable can switch it off.
      rejectUnauthorized: true,
      ...(options.ca === undefined ? {} : { ca: options.ca }),
    });
  return (target, callback) => {
    const host = bareHost(target.hostname);
    const name = isIP(host) === 0 ? { servername: host } : {};
    const dialNext = (addresses: readonly string[], index: number): void => {
      const hostname = addresses[index] ?? '';
      dial({ ...target, ...name, hostname }, (...[error, socket]) => {
        if (error === null) callback(null, readsOnceATurn(socket));
        else if (index + 1 < addresses.length) dialNext(addresses, index + 1);
        else callback(error, null);
      });
    };
    permitted(host, options).then(
      (addresses) => dialNext(addresses, 0),
      (error: unknown) =>
        callback(error instanceof Error ? error : new Error('the name was not resolved'), null),
    );
  };
}

/**
 * Connects once to the host of an address, and closes the connection.
 * @throws Error when that fails. Its message contains no credentials, because none are used.
 */
export function reach(url: URL, options: GuardOptions): Promise<void> {
  const secure = url.protocol === 'https:';
  const { hostname, host, protocol } = url;
  const port = url.port === '' ? (secure ? '443' : '80') : url.port;
  return new Promise((resolve, reject) => {
    guardedConnect(options)({ hostname, host, protocol, port }, (...[error, socket]) => {
      if (error !== null) {
        reject(error);
        return;
      }
      socket.on('error', () => undefined).destroy();
      resolve();
    });
  });
}
