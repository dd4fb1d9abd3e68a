/** Publishers' servers, played by one on the loopback: what it holds lies by host and path. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A file, a status such as 403, or an address that it moved to. */
type Published = Buffer | number | { readonly moved: string };

export class Publishers {
  readonly files = new Map<string, Published>();
  /** Paths asked for; those with a condition say so. */
  asked: string[] = [];
  /** What `--mirror` takes. */
  mirror = '';
  readonly #server: Server = createServer((request, response) => this.#answer(request, response));

  async start(): Promise<void> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    this.mirror = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  clear(): void {
    this.files.clear();
    this.asked = [];
  }

  put(path: string, text: string | Buffer): void {
    this.files.set(path, Buffer.from(text));
  }

  /** A page of links, as directories print them. */
  list(folder: string, ...names: readonly string[]): void {
    this.put(
      folder,
      names
        .map((name) => `<A HREF="${folder.replace(/^\/[^/]+/, '')}${name}">${name}</A><br>`)
        .join('\n'),
    );
  }

  #answer({ url = '', headers }: IncomingMessage, response: ServerResponse): void {
    const asks = headers['if-none-match'];
    this.asked.push(`${url}${asks === undefined ? '' : ' conditional'}`);
    const file = this.files.get(url) ?? 404;
    if (typeof file === 'number') response.writeHead(file).end('no file');
    else if (Buffer.isBuffer(file)) {
      const etag = `"${createHash('sha256').update(file).digest('hex').slice(0, 9)}"`;
      if (asks === etag) response.writeHead(304).end();
      else response.writeHead(200, { ETag: etag, 'Content-Length': file.length }).end(file);
    } else response.writeHead(302, { Location: file.moved }).end();
  }
}
