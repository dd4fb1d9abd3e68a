/** A client on a raw socket: what is sent and when is the test's affair. */
import { connect, type Socket } from 'node:net';
import { once } from 'node:events';

export interface RawAnswer {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

const HEAD_END = '\r\n\r\n';

export class RawClient {
  readonly socket: Socket;
  #received = '';
  #ended = false;
  #changed: () => void = () => undefined;

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.setEncoding('latin1');
    socket.on('data', (text) => {
      this.#received += String(text);
      this.#changed();
    });
    const end = (): void => {
      this.#ended = true;
      this.#changed();
    };
    socket.on('end', end).on('close', end).on('error', end);
  }

  static async open(port: number): Promise<RawClient> {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true });
    await once(socket, 'connect');
    return new RawClient(socket);
  }

  write(text: string): void {
    this.socket.write(text);
  }

  get(path: string, headers: Readonly<Record<string, string>> = {}): void {
    this.write(requestText('GET', path, headers));
  }

  /** The next answer; null when the connection ended without one. */
  async answer(bodiless = false): Promise<RawAnswer | null> {
    for (;;) {
      const answer = this.#take(bodiless);
      if (answer !== null || this.#ended) return answer;
      await new Promise<void>((resolve) => {
        this.#changed = resolve;
      });
    }
  }

  /** Resolves when the server has closed the connection. */
  async closed(): Promise<void> {
    while (!this.#ended) {
      await new Promise<void>((resolve) => {
        this.#changed = resolve;
      });
    }
  }

  close(): void {
    this.socket.destroy();
  }

  #take(bodiless: boolean): RawAnswer | null {
    const end = this.#received.indexOf(HEAD_END);
    if (end < 0) return null;
    const [first = '', ...lines] = this.#received.slice(0, end).split('\r\n');
    const headers = new Map(
      lines.map((line): [string, string] => {
        const colon = line.indexOf(':');
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
      }),
    );
    const length = bodiless ? 0 : Number(headers.get('content-length') ?? 0);
    const from = end + HEAD_END.length;
    if (this.#received.length < from + length) return null;
    const body = this.#received.slice(from, from + length);
    this.#received = this.#received.slice(from + length);
    return { status: Number(first.split(' ')[1]), headers, body };
  }
}

/** A request head. */
export function requestText(
  method: string,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): string {
  const fields = Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('');
  return `${method} ${path} HTTP/1.1\r\nHost: localhost\r\n${fields}\r\n`;
}

/** One request on a connection of its own. */
export async function ask(
  port: number,
  path: string,
  headers: Readonly<Record<string, string>> = {},
  method = 'GET',
): Promise<RawAnswer> {
  const client = await RawClient.open(port);
  client.write(requestText(method, path, headers));
  const answer = await client.answer(method === 'HEAD');
  client.close();
  if (answer === null) throw new Error(`no answer to ${method} ${path}`);
  return answer;
}
