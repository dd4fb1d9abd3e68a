/**
 * The listener of `GET /metrics`, apart from the public one: whoever reaches it learns how busy the
 * service is. It is asked every few seconds by one or two; Node's own server does.
 */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { messageOf, type Log } from '../log.js';

const ADDRESS = /^(\[[0-9a-f:.]+\]|[\w.-]+):(\d{1,5})$/i;
const PORT_MAX = 65_535;

/** What gives the text, as prom-client's registry does. */
export interface MetricsText {
  readonly contentType: string;
  metrics(): Promise<string>;
}

export interface MetricsAddress {
  readonly host: string;
  readonly port: number;
}

/**
 * The address of the setting; null where it is empty.
 * @throws Error that names the setting where it is none.
 */
export function metricsAddress(text: string): MetricsAddress | null {
  if (text === '') return null;
  const [, host = '', digits = ''] = ADDRESS.exec(text) ?? [];
  const port = Number(digits);
  if (host === '' || port > PORT_MAX) {
    throw new Error('SITUS_METRICS must be host:port, as 127.0.0.1:9464');
  }
  return { host: host.replace(/^\[|\]$/g, ''), port };
}

export class MetricsListener {
  readonly #server: Server;

  constructor(text: MetricsText, log: Log) {
    this.#server = createServer((request, response) => {
      const { method, url } = request;
      const known = url?.split('?')[0] === '/metrics';
      if (!known || (method !== 'GET' && method !== 'HEAD')) {
        response.writeHead(known ? 405 : 404, known ? { Allow: 'GET, HEAD' } : {}).end();
        return;
      }
      text.metrics().then((body) => {
        response.writeHead(200, { 'Content-Type': text.contentType });
        response.end(method === 'HEAD' ? undefined : body);
      }, (error: unknown) => {
        log.error('metrics not told', { message: messageOf(error) });
        response.writeHead(500).end();
      });
    });
  }

  /**
   * Listens and returns the port.
   * @throws Error that names the setting when the address cannot be had.
   */
  async listen({ host, port }: MetricsAddress): Promise<number> {
    const listening = once(this.#server, 'listening');
    this.#server.listen(port, host);
    try {
      await listening;
    } catch (error) {
      throw new Error(`SITUS_METRICS: cannot listen on ${host}:${port} (${messageOf(error)})`);
    }
    // A scrape holds nothing up.
    this.#server.unref();
    return (this.#server.address() as AddressInfo).port;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}
