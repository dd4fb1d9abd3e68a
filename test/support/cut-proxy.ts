/** A proxy before a database, that can be cut off and can lose what a COMMIT is answered with. */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { DATABASE } from './postgres.js';

const COMMIT = Buffer.from('; COMMIT');
/** What the database says when it has committed. */
const COMMITTED = Buffer.from('COMMIT\0');

/** Where the next COMMIT is lost: before the database has it, or its answer once it has done it. */
type Loss = 'asked' | 'answered';

export class CutProxy {
  /** The address of a schema behind the proxy. */
  readonly url: string;
  /** Refuses what comes; set to false again it lets everything through. */
  cut = false;
  /** Bytes from the database after which a connection is cut. */
  bytesMax = Infinity;
  /** What becomes of the next COMMIT; null when it has passed. */
  lose: Loss | null = null;
  readonly #pairs = new Set<readonly [Socket, Socket]>();

  private constructor(port: number, schema: string) {
    const url = new URL(DATABASE);
    url.hostname = '127.0.0.1';
    url.port = String(port);
    url.searchParams.set('schema', schema);
    this.url = url.href;
  }

  static async open(context: TestContext, schema: string): Promise<CutProxy> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const proxy = new CutProxy((server.address() as AddressInfo).port, schema);
    server.on('connection', (socket) => proxy.#pass(socket));
    context.after(() => {
      proxy.close();
      server.close();
    });
    return proxy;
  }

  /** Cuts every connection. */
  close(): void {
    for (const pair of this.#pairs) for (const socket of pair) socket.destroy();
  }

  #pass(client: Socket): void {
    if (this.cut) return void client.destroy();
    const { hostname, port } = new URL(DATABASE);
    const server = connect(Number(port) || 5432, hostname);
    const pair = [client, server] as const;
    this.#pairs.add(pair);
    const end = (): void => {
      client.destroy();
      server.destroy();
      this.#pairs.delete(pair);
    };
    for (const socket of pair) socket.on('close', end).on('error', end);
    let silent = false;
    client.on('data', (bytes) => {
      if (this.lose !== null && bytes.includes(COMMIT)) {
        const lost = this.lose;
        this.lose = null;
        if (lost === 'asked') return end();
        silent = true;
      }
      server.write(bytes);
    });
    let passed = 0;
    server.on('data', (bytes) => {
      passed += bytes.length;
      if (passed > this.bytesMax) end();
      else if (!silent) client.write(bytes);
      else if (bytes.includes(COMMITTED)) end();
    });
  }
}
