/**
 * The only file that knows the native server. It is loaded when first needed, so that everything
 * else (tests, the command line) runs where its binary cannot.
 */
import { setHeadLimit } from '../config.js';
import { connectionsMax } from './descriptors.js';
import { framingOf, framingOfGet } from './framing.js';
import { guarded, refuseFraming, type Fault } from './native-guard.js';

/** What the service uses of a native response. Valid until it ended or was aborted. */
export interface RawResponse {
  writeStatus(status: string): RawResponse;
  writeHeader(name: string | ArrayBuffer, value: string | Uint8Array): RawResponse;
  end(body?: string | Uint8Array, closeConnection?: boolean): RawResponse;
  /**
   * Ends with what the system takes at once: whether it took all of this, and whether that was all.
   * A length greater than that of the body says that more comes; it is told by the first call.
   */
  tryEnd(body: string | Uint8Array, length?: number): [taken: boolean, whole: boolean];
  /** Bytes of the body that were taken so far. */
  getWriteOffset(): number;
  /** Tells no length; after `tryEnd` without a body the one that was told there. */
  endWithoutBody(length?: undefined, closeConnection?: boolean): RawResponse;
  /** Sends a part of an answer of unknown length; false when the client is behind. */
  write(part: Uint8Array): boolean;
  /** Calls back when the client has caught up; what it returns is whether nothing is left. */
  onWritable(handler: (offset: number) => boolean): RawResponse;
  cork(write: () => void): RawResponse;
  close(): RawResponse;
  pause(): void;
  resume(): void;
  onAborted(handler: () => void): RawResponse;
  /** Of the other end of the connection, in ASCII. */
  getRemoteAddressAsText(): ArrayBuffer;
  /** `chunk` is emptied when the handler returns. */
  onData(handler: (chunk: ArrayBuffer, isLast: boolean) => void): RawResponse;
}

/** What the service uses of a native request. Valid only while its handler runs. */
export interface RawRequest {
  getHeader(lowerCaseName: string | ArrayBuffer): string;
  getUrl(): string;
  getCaseSensitiveMethod(): string;
  getQuery(): string | undefined;
  forEach(each: (name: string, value: string) => void): void;
}

/** A WebSocket. Valid until it was closed. */
export interface RawSocket {
  /** Sends bytes as text: 1 sent, 0 kept in memory until the client has caught up, 2 dropped. */
  send(text: Uint8Array): number;
  /** Bytes kept in memory. */
  getBufferedAmount(): number;
  ping(): number;
  /** Says goodbye after everything that was sent. */
  end(code: number, reason: string): void;
  /** Cuts the connection. */
  close(): void;
  cork(write: () => void): void;
}

/** What a WebSocket is told. */
export interface SocketEvents {
  open(socket: RawSocket): void;
  /** `message` is emptied when this returns. */
  message(message: ArrayBuffer, isBinary: boolean): void;
  /** The client has caught up, or takes some again. */
  drained(): void;
  /** A ping or a pong came. */
  alive(): void;
  closed(): void;
}

/** Decides about an upgrade; null when it has answered the request in another way. */
export type Upgrade = (response: RawResponse, request: RawRequest) => SocketEvents | null;

export interface SocketLimits {
  /** A longer message cuts the connection. */
  readonly messageBytesMax: number;
  /** Bytes kept in memory above which messages are dropped. */
  readonly bufferedBytesMax: number;
}

export type RawHandler = (response: RawResponse, request: RawRequest) => void;

/** A listening server. */
export interface RawServer {
  /** Every method of a pattern. Registration order decides. */
  any(pattern: string, handler: RawHandler): void;
  /** The handler answers whole or registers for an abort before it returns. */
  get(pattern: string, handler: RawHandler): void;
  post(pattern: string, handler: RawHandler): void;
  /** WebSockets of a path; to be said before other handlers of the path. */
  sockets(path: string, limits: SocketLimits, upgrade: Upgrade): void;
  /** Listens and returns the port, or null when it cannot be had. */
  listen(host: string, port: number): Promise<number | null>;
  /** Refuses new connections; open ones go on. */
  stopListening(): void;
  /** Cuts every connection. */
  close(): void;
}

type Native = typeof import('uWebSockets.js');
type ListenSocket = Parameters<Native['us_listen_socket_close']>[0];

/** Without it two servers share a port unnoticed, and a request reaches either. */
const EXCLUSIVE_PORT = 1;

type Behavior<T> = import('uWebSockets.js').WebSocketBehavior<T>;

interface SocketHolder {
  readonly events: SocketEvents;
}

type NativeSocket = import('uWebSockets.js').WebSocket<SocketHolder>;

/** Pings and clocks are the service's own: those of the native server cannot be told apart. */
function socketBehavior(
  { messageBytesMax, bufferedBytesMax }: SocketLimits, upgrade: Upgrade, fault: Fault,
): Behavior<SocketHolder> {
  const tell = (socket: NativeSocket, call: (events: SocketEvents) => void): void => {
    try {
      call(socket.getUserData().events);
    } catch (error) {
      fault(error);
      socket.close();
    }
  };
  return {
    maxPayloadLength: messageBytesMax,
    maxBackpressure: bufferedBytesMax,
    idleTimeout: 0,
    sendPingsAutomatically: false,
    upgrade: (response, request, context) => guarded((raw) => {
      if (framingOf(request) !== 'plain') return refuseFraming(raw, request);
      // Read first: the request is gone once it was answered.
      const [key, protocol, extensions] = ['key', 'protocol', 'extensions']
        .map((name) => request.getHeader(`sec-websocket-${name}`));
      const events = upgrade(response, request);
      if (events === null) return;
      response.upgrade<SocketHolder>(
        { events }, key ?? '', protocol ?? '', extensions ?? '', context,
      );
    }, () => 'plain', fault)(response, request),
    open: (socket) => tell(socket, (events) => events.open(socket)),
    message: (socket, message, isBinary) =>
      tell(socket, (events) => events.message(message, isBinary)),
    drain: (socket) => tell(socket, (events) => events.drained()),
    ping: (socket) => tell(socket, (events) => events.alive()),
    pong: (socket) => tell(socket, (events) => events.alive()),
    close: (socket) => {
      try {
        socket.getUserData().events.closed();
      } catch (error) {
        fault(error);
      }
    },
  };
}

async function loadNative(): Promise<Native> {
  setHeadLimit();
  try {
    return (await import('uWebSockets.js')).default;
  } catch (error) {
    const reason = error instanceof Error ? error.message.replaceAll(/\s+/g, ' ') : String(error);
    throw new Error(
      'The HTTP server could not be loaded: its binary needs Node.js 20 with glibc 2.27 or newer,' +
      ' or Node.js 22, 24 or 25 with glibc 2.38 or newer, on Linux, macOS or Windows. This is ' +
      `Node.js ${process.versions.node} on ${process.platform} ${process.arch}. (${reason})`,
    );
  }
}

/** Closes connections that would leave the process without file descriptors. */
function limitConnections(app: ReturnType<Native['App']>): () => void {
  let open = 0;
  let openMax = Infinity;
  app.filter((response, change) => {
    // The published types take it for a response or nothing.
    open += Number(change);
    if (Number(change) > 0 && open > openMax) response.close();
  });
  return () => {
    openMax = connectionsMax();
  };
}

/**
 * Makes a server that is not listening yet. `fault` is told of bugs: what a handler threw, which
 * cuts its connection.
 * @throws Error in a sentence for the operator when the binary cannot be loaded.
 */
export async function createServer(fault: Fault = () => undefined): Promise<RawServer> {
  const native = await loadNative();
  const app = native.App();
  const limit = limitConnections(app);
  let listening: ListenSocket | null = null;
  return {
    any: (pattern, handler) => {
      app.any(pattern, guarded(handler, framingOf, fault));
    },
    get: (pattern, handler) => {
      app.get(pattern, guarded(handler, framingOfGet, fault, { settles: true }));
    },
    post: (pattern, handler) => {
      app.post(pattern, guarded(handler, framingOf, fault));
    },
    sockets: (path, limits, upgrade) => {
      app.ws<SocketHolder>(path, socketBehavior(limits, upgrade, fault));
    },
    listen: (host, port) => new Promise((resolve) => {
      limit();
      const done = (socket: ListenSocket | false): void => {
        listening = socket === false ? null : socket;
        resolve(socket === false ? null : native.us_socket_local_port(socket));
      };
      // The published types know host or options, the server takes both.
      Reflect.apply(app.listen, app, [host, port, EXCLUSIVE_PORT, done]);
    }),
    stopListening: () => {
      if (listening !== null) native.us_listen_socket_close(listening);
      listening = null;
    },
    close: () => {
      listening = null;
      app.close();
    },
  };
}
