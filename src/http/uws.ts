/**
 * The transport on the native server, and the only file that knows it. The server is loaded when
 * first needed, so that all else (tests, the command line) runs where its binary cannot.
 */
import { setHeadLimit, type Config } from '../config.js';
import { ConnectionLimit } from './descriptors.js';
import { framingOfGet, GatheredRequest } from './gathered-request.js';
import { unclearBody } from './head-refusal.js';
import { clearFreed, guarded, refuse } from './native-guard.js';
import {
  unfitCertificate,
  type Fault,
  type RawHandler,
  type RawRequest,
  type RawServer,
  type RefusalNote,
  type Told,
  type SocketEvents,
  type SocketLimits,
  type Upgrade,
} from './transport.js';

type Native = typeof import('uWebSockets.js');
type NativeApp = ReturnType<Native['App']>;
type ListenSocket = Parameters<Native['us_listen_socket_close']>[0];

/** Without it two servers could share a port unnoticed, and a request could reach either. */
const EXCLUSIVE_PORT = 1;
/** For ports that are given; a port that the system chooses is never shared. */
const SHARED_PORT = 0;

/** A turn of the event loop that took no longer than this had nothing to accept. */
const QUIET_MS = 0.05;
/** After this many turns, such a turn is no longer waited for. */
const TURNS_MAX = 2_000;

/** How often to try for the port again, each time a millisecond later than before. */
const RENEW_TRIES = 100;

/** For requests that may have a body. */
function gathered(request: RawRequest): GatheredRequest {
  return new GatheredRequest(request);
}

type Behavior<T> = import('uWebSockets.js').WebSocketBehavior<T>;

type NativeSocket = import('uWebSockets.js').WebSocket<SocketHolder>;

interface SocketHolder {
  readonly events: SocketEvents;
}

/** Used in the cork of a WebSocket that is accepted after its handler has returned. */
interface Later {
  cleared: readonly Buffer[] | null;
}

/** Passes a request for a WebSocket on, which is accepted at once or later. */
function upgrading(
  upgrade: Upgrade,
  later: Later,
  told: Told,
): NonNullable<Behavior<SocketHolder>['upgrade']> {
  return (response, request, context) =>
    guarded(
      (raw) => {
        if (gathered(request).framing !== 'plain') {
          return refuse(raw, request, unclearBody(request.getUrl()), told);
        }
        // Read first, because the request is invalid after its answer.
        const [key, protocol, extensions] = ['key', 'protocol', 'extensions'].map((name) =>
          request.getHeader(`sec-websocket-${name}`),
        );
        let hasReturned = false;
        upgrade(response, request, (events) => {
          const take = (): void =>
            response.upgrade<SocketHolder>(
              { events },
              key ?? '',
              protocol ?? '',
              extensions ?? '',
              context,
            );
          if (!hasReturned) return take();
          later.cleared = [];
          response.cork(take);
          later.cleared = null;
        });
        hasReturned = true;
      },
      () => 'plain',
      told,
    )(response, request);
}

/** Pings and time-outs are the service's own: pings of the native server cannot be told apart. */
function socketBehavior(
  { messageBytesMax, bufferedBytesMax }: SocketLimits,
  upgrade: Upgrade,
  told: Told,
): Behavior<SocketHolder> {
  const tell = (socket: NativeSocket, call: (events: SocketEvents) => void): void => {
    try {
      call(socket.getUserData().events);
    } catch (error) {
      told.fault(error);
      socket.close();
    }
  };
  const later: Later = { cleared: null };
  return {
    maxPayloadLength: messageBytesMax,
    maxBackpressure: bufferedBytesMax,
    idleTimeout: 0,
    sendPingsAutomatically: false,
    upgrade: upgrading(upgrade, later, told),
    open: (socket) => {
      if (later.cleared !== null) later.cleared = clearFreed();
      tell(socket, (events) => events.open(socket));
    },
    message: (socket, message, isBinary) =>
      tell(socket, (events) => events.message(message, isBinary)),
    drain: (socket) => tell(socket, (events) => events.drained()),
    ping: (socket) => tell(socket, (events) => events.alive()),
    pong: (socket) => tell(socket, (events) => events.alive()),
    close: (socket) => {
      try {
        socket.getUserData().events.closed();
      } catch (error) {
        told.fault(error);
      }
    },
  };
}

/** Thrown where the native server cannot be loaded; the message says why. */
export class NativeUnavailable extends Error {}

async function loadNative(): Promise<Native> {
  setHeadLimit();
  try {
    return (await import('uWebSockets.js')).default;
  } catch (error) {
    const reason = error instanceof Error ? error.message.replaceAll(/\s+/g, ' ') : String(error);
    throw new NativeUnavailable(
      'its binary needs Node.js 20 with glibc 2.27 or newer,' +
        ' or Node.js 22, 24 or 25 with glibc 2.38 or newer, on Linux, macOS or Windows; this is ' +
        `Node.js ${process.versions.node} on ${process.platform} ${process.arch} (${reason})`,
    );
  }
}

/** Makes the native app; an error about the certificate names the setting. */
function nativeApp(native: Native, tls: Config['tls']): NativeApp {
  if (tls === null) return native.App();
  try {
    return native.SSLApp({ cert_file_name: tls.cert, key_file_name: tls.key });
  } catch {
    throw unfitCertificate(tls);
  }
}

/** Native apps with the same handlers; with TLS, one for each certificate so far. */
class UwsServer implements RawServer {
  readonly transport = 'native';
  readonly #native: Native;
  readonly #told: Told;
  readonly #tls: Config['tls'];
  readonly #limit = new ConnectionLimit();
  /** All registrations, for the next app. */
  readonly #steps: ((app: NativeApp) => void)[] = [];
  readonly #apps: NativeApp[] = [];
  #listening: ListenSocket | null = null;
  #address: readonly [host: string, port: number, shared: boolean] | null = null;

  constructor(native: Native, fault: Fault, tls: Config['tls']) {
    this.#native = native;
    this.#told = { fault, note: () => [] };
    this.#tls = tls;
    this.#begin();
  }

  noteRefusals(note: RefusalNote): void {
    this.#told.note = note;
  }

  any(pattern: string, handler: RawHandler): void {
    this.#register((app) => app.any(pattern, guarded(handler, gathered, this.#told)));
  }

  get(pattern: string, handler: RawHandler): void {
    this.#register((app) =>
      app.get(pattern, guarded(handler, framingOfGet, this.#told, { settles: true })),
    );
  }

  post(pattern: string, handler: RawHandler): void {
    this.#register((app) =>
      app.post(pattern, guarded(handler, gathered, this.#told, { settles: true })),
    );
  }

  sockets(path: string, limits: SocketLimits, upgrade: Upgrade): void {
    this.#register((app) =>
      app.ws<SocketHolder>(path, socketBehavior(limits, upgrade, this.#told)),
    );
  }

  get connections(): number {
    return this.#limit.open;
  }

  async listen(host: string, port: number, shared = false): Promise<number | null> {
    this.#limit.begin();
    const app = this.#apps.at(-1);
    const socket = app === undefined ? null : await listenOn(app, host, port, shared);
    this.#listening = socket;
    if (socket === null) return null;
    const listening = this.#native.us_socket_local_port(socket);
    this.#address = [host, listening, shared];
    return listening;
  }

  async stopTaking(): Promise<void> {
    // The kernel resets connections that wait at a closed socket. A turn accepts all that have
    // come, so the socket is closed right after a turn that found none.
    for (let turns = 0; turns < TURNS_MAX; turns += 1) {
      const from = performance.now();
      await new Promise((resolve) => setImmediate(resolve));
      if (performance.now() - from < QUIET_MS) break;
    }
    this.stopListening();
  }

  stopListening(): void {
    if (this.#listening !== null) this.#native.us_listen_socket_close(this.#listening);
    this.#listening = null;
  }

  async renew(): Promise<void> {
    const [address, before] = [this.#address, this.#listening];
    if (this.#tls === null || (before === null && address !== null)) return;
    this.#begin();
    if (before === null || address === null) return;
    if (address[2]) {
      // Both listen for a moment, so that nothing is refused.
      if ((await this.listen(...address)) === null) throw new Error('the port was taken meanwhile');
      this.#native.us_listen_socket_close(before);
      return;
    }
    this.stopListening();
    // The native server frees the port at the end of a turn.
    for (let tries = 0; tries < RENEW_TRIES; tries += 1) {
      await new Promise((resolve) => setTimeout(resolve, tries));
      if ((await this.listen(...address)) !== null) return;
    }
    throw new Error('the port was taken meanwhile');
  }

  close(): void {
    this.#listening = null;
    for (const app of this.#apps.splice(0)) app.close();
  }

  #register(step: (app: NativeApp) => void): void {
    this.#steps.push(step);
    for (const app of this.#apps) step(app);
  }

  /** Makes the app that listens next. */
  #begin(): void {
    const app = nativeApp(this.#native, this.#tls);
    this.#limit.watch(app);
    for (const step of this.#steps) step(app);
    this.#apps.push(app);
  }
}

/** Returns null where the port is not available. */
function listenOn(
  app: NativeApp,
  host: string,
  port: number,
  shared: boolean,
): Promise<ListenSocket | null> {
  return new Promise((resolve) => {
    const done = (socket: ListenSocket | false): void => resolve(socket === false ? null : socket);
    // The published types allow a host or options; the server takes both.
    Reflect.apply(app.listen, app, [host, port, shared ? SHARED_PORT : EXCLUSIVE_PORT, done]);
  });
}

/**
 * Makes a server that does not listen yet; an exception of a handler cuts its connection.
 * @throws NativeUnavailable when the binary cannot be loaded.
 * @throws Error in a sentence for the operator when the certificate cannot be used.
 */
export async function createNativeServer(fault: Fault, tls: Config['tls']): Promise<RawServer> {
  return new UwsServer(await loadNative(), fault, tls);
}
