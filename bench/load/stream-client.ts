/** A client of streams, over either transport: it sends lines and receives lines. */
import { request, type ClientRequest } from 'node:http';
import { WebSocket } from 'ws';

interface StreamEnded {
  /** Close code of a WebSocket, 0 where there is none; for HTTP, 1 if the answer was complete. */
  readonly code: number;
  readonly reason: string;
}

/** A refusal before the stream began. */
interface StreamRefused {
  readonly status: number;
  readonly body: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

export interface StreamAsk {
  readonly port: number;
  readonly key: string | null;
  readonly transport: 'socket' | 'post';
  /** With its question mark. */
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * Whether messages of a WebSocket have a mask of zeros, which saves time where megabytes are
   * sent.
   */
  readonly unmasked?: boolean;
}

/** Tells a refusal from a stream. */
export function wasRefused(opened: StreamClient | StreamRefused): opened is StreamRefused {
  return 'status' in opened;
}

export class StreamClient {
  readonly ended: Promise<StreamEnded>;
  readonly #lines: string[] = [];
  #over = false;
  #changed: () => void = () => undefined;
  #end: (ended: StreamEnded) => void = () => undefined;
  readonly #write: (text: string) => void;
  readonly #cut: () => void;
  readonly #finish: () => void;

  private constructor(write: (text: string) => void, cut: () => void, finish: () => void) {
    this.#write = write;
    this.#cut = cut;
    this.#finish = finish;
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  static async open(ask: StreamAsk): Promise<StreamClient | StreamRefused> {
    return ask.transport === 'socket' ? openSocket(ask) : openPost(ask);
  }

  static over(socket: WebSocket): StreamClient {
    const client = new StreamClient(
      (text) => socket.send(text),
      () => socket.terminate(),
      () => socket.send('{"end":true}'),
    );
    socket.on('message', (message) => client.#take(message.toString()));
    socket.on('close', (code, reason) => client.#close({ code, reason: reason.toString() }));
    socket.on('error', () => undefined);
    client.flow = socket;
    return client;
  }

  static along(sent: ClientRequest): StreamClient {
    return new StreamClient(
      (text) => sent.write(`${text}\n`),
      () => sent.destroy(),
      () => sent.end(),
    );
  }

  /** Allows to pause reading; set when a stream is opened. */
  flow: { pause(): void; resume(): void } | null = null;

  /** Takes a received line. */
  #take(line: string): void {
    this.#lines.push(line);
    this.#changed();
  }

  #close(ended: StreamEnded): void {
    this.#over = true;
    this.#end(ended);
    this.#changed();
  }

  /** Takes lines of an answer over HTTP. */
  feed(text: string): void {
    for (const line of text.split('\n')) this.#take(line);
  }

  fed(ended: StreamEnded): void {
    this.#close(ended);
  }

  send(text: string): void {
    this.#write(text);
  }

  cut(): void {
    this.#cut();
  }

  /** Ends the sending side. */
  finish(): void {
    this.#finish();
  }

  /** The next line, when it comes; null at the end. */
  async next(): Promise<string | null> {
    for (;;) {
      const line = this.#lines.shift();
      if (line !== undefined) return line;
      if (this.#over) return null;
      await new Promise<void>((resolve) => {
        this.#changed = resolve;
      });
    }
  }

  /** A line that has arrived already; null where there is none. */
  ready(): string | null {
    return this.#lines.shift() ?? null;
  }

  /** All lines until the end. */
  async rest(): Promise<readonly string[]> {
    const lines: string[] = [];
    for (let line = await this.next(); line !== null; line = await this.next()) lines.push(line);
    return lines;
  }
}

function headersOf({ key, headers = {} }: StreamAsk): Record<string, string> {
  return { ...(key === null ? {} : { 'X-API-KEY': key }), ...headers };
}

function openSocket(ask: StreamAsk): Promise<StreamClient | StreamRefused> {
  const socket = new WebSocket(`ws://127.0.0.1:${ask.port}/stream${ask.query ?? ''}`, {
    headers: headersOf(ask),
    perMessageDeflate: false,
    ...(ask.unmasked === true ? { generateMask: (mask: Buffer) => void mask.fill(0) } : {}),
  });
  const client = StreamClient.over(socket);
  return new Promise((resolve, reject) => {
    socket.on('open', () => resolve(client));
    socket.on('unexpected-response', (_request, response) => {
      let body = '';
      response.on('data', (part: Buffer) => {
        body += part.toString();
      });
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          body,
          headers: response.headers,
        }),
      );
    });
    socket.on('error', reject);
  });
}

function openPost(ask: StreamAsk): Promise<StreamClient | StreamRefused> {
  const sent = request({
    port: ask.port,
    host: '127.0.0.1',
    path: `/stream${ask.query ?? ''}`,
    method: 'POST',
    agent: false,
    headers: { 'Content-Type': 'application/x-ndjson', ...headersOf(ask) },
  });
  sent.flushHeaders();
  return new Promise((resolve, reject) => {
    sent.on('error', reject);
    sent.on('response', (response) => {
      const status = response.statusCode ?? 0;
      const client = StreamClient.along(sent);
      let held = '';
      response.on('data', (part: Buffer) => {
        held += part.toString('latin1');
        const end = held.lastIndexOf('\n');
        if (end < 0 || status !== 200) return;
        client.feed(Buffer.from(held.slice(0, end), 'latin1').toString());
        held = held.slice(end + 1);
      });
      response.on('error', () => undefined);
      response.on('close', () => {
        if (status === 200) client.fed({ code: response.complete ? 1 : 0, reason: '' });
        else resolve({ status, body: held, headers: response.headers });
      });
      client.flow = response;
      if (status === 200) resolve(client);
      else sent.end();
    });
  });
}
