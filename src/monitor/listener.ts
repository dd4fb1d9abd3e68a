/**
 * Listens for `GET /metrics`, on an address apart from the public one, since the answer shows how
 * busy the service is. It is asked only every few seconds, so Node's own server suffices.
 */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { messageOf, type Log } from '../log.js';
import type { Config } from '../config.js';
import { CrossOrigins } from '../http/cross-origin.js';
import { TrustedProxies } from '../http/proxies.js';

const ADDRESS = /^(\[[0-9a-f:.]+\]|[\w.-]+):(\d{1,5})$/i;
const PORT_MAX = 65_535;
/** How often an address is tried again that another server still uses. */
const AGAIN_MS = 250;

/** Makes the text of the metrics, as prom-client's registry does. */
interface MetricsText {
  readonly contentType: string;
  metrics(): Promise<string>;
}

export interface MetricsAddress {
  readonly host: string;
  readonly port: number;
}

/**
 * The address in the setting; null where that is empty.
 * @throws Error that names the setting where it is no address.
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
  #closed = false;

  constructor(text: MetricsText, log: Log) {
    this.#server = createServer((request, response) => {
      const { method, url } = request;
      const known = url?.split('?')[0] === '/metrics';
      if (!known || (method !== 'GET' && method !== 'HEAD')) {
        response.writeHead(known ? 405 : 404, known ? { Allow: 'GET, HEAD' } : {}).end();
        return;
      }
      text.metrics().then(
        (body) => {
          response.writeHead(200, { 'Content-Type': text.contentType });
          response.end(method === 'HEAD' ? undefined : body);
        },
        (error: unknown) => {
          log.error('metrics not told', { message: messageOf(error) });
          response.writeHead(500).end();
        },
      );
    });
  }

  /**
   * Listens and returns the port. With `patient`, returns null where another server has the
   * address, and tries again until that server has left, whose place this one takes.
   * @throws Error that names the setting when the address is not available.
   */
  async listen(address: MetricsAddress, patient = false): Promise<number | null> {
    const { host, port } = address;
    const listening = once(this.#server, 'listening');
    this.#server.listen(port, host);
    try {
      await listening;
    } catch (error) {
      if (patient && !this.#closed) {
        setTimeout(() => {
          if (!this.#closed) void this.listen(address, true);
        }, AGAIN_MS).unref();
        return null;
      }
      if (this.#closed) return null;
      throw new Error(`SITUS_METRICS: cannot listen on ${host}:${port} (${messageOf(error)})`);
    }
    // The listener does not keep the process alive.
    this.#server.unref();
    return (this.#server.address() as AddressInfo).port;
  }

  close(): void {
    this.#closed = true;
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

/** Each function reads one setting, and throws an Error that names it where it is invalid. */
export const WATCH_READERS = {
  metrics: ({ metrics }: Config) => metricsAddress(metrics),
  origins: ({ corsOrigins }: Config) => CrossOrigins.of(corsOrigins),
  proxies: ({ proxies }: Config) => TrustedProxies.of(proxies),
} as const;
