/**
 * Listens for `GET /metrics`, on an address apart from the public one, since the answer shows how
 * busy the service is. It is asked only every few seconds, so Node's own server suffices.
 */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { errorCode } from '../base/error-code.js';
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
  readonly #log: Log;
  #closed = false;

  constructor(text: MetricsText, log: Log) {
    this.#log = log;
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
   * Listens and returns the port. With `patientMs`, returns null where another server has the
   * address, and tries again until that server has left, whose place this one takes. If that takes
   * longer, the log says so, once.
   * @throws Error that names the setting when the address is not available.
   */
  async listen(address: MetricsAddress, patientMs = 0): Promise<number | null> {
    const fault = await this.#take(address);
    if (fault === null) return (this.#server.address() as AddressInfo).port;
    if (this.#closed) return null;
    const { host, port } = address;
    const message = `SITUS_METRICS: cannot listen on ${host}:${port} (${messageOf(fault)})`;
    if (patientMs === 0 || errorCode(fault) !== 'EADDRINUSE') throw new Error(message);
    this.#later(address, performance.now() + patientMs, message);
    return null;
  }

  /** Tries to listen; returns why it cannot, or null. */
  async #take({ host, port }: MetricsAddress): Promise<unknown> {
    const listening = once(this.#server, 'listening');
    this.#server.listen(port, host);
    try {
      await listening;
    } catch (error) {
      return error;
    }
    // The listener does not keep the process alive.
    this.#server.unref();
    return null;
  }

  /** Tries again; `message` is logged once the moment `tellAt` is past. */
  #later(address: MetricsAddress, tellAt: number, message: string): void {
    setTimeout(() => {
      if (this.#closed) return;
      void this.#take(address).then((fault) => {
        if (fault === null || this.#closed) return;
        const isLate = performance.now() >= tellAt;
        if (isLate) this.#log.error('metrics not listened for', { message });
        this.#later(address, isLate ? Number.POSITIVE_INFINITY : tellAt, message);
      });
    }, AGAIN_MS).unref();
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
