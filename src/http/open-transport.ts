/** Chooses the HTTP server: the native one where it loads, otherwise that of Node.js. */
import type { Config, TransportChoice } from '../config.js';
import { SILENT, type Log } from '../log.js';
import type { Fault, RawServer } from './transport.js';

interface TransportOptions {
  readonly transport?: TransportChoice;
  readonly tls?: Config['tls'];
  /** Called with exceptions of handlers, which are bugs and cut their connections. */
  readonly fault?: Fault;
  /** Where it is logged that the native server cannot be used. */
  readonly log?: Log;
}

/** The consequence of that, for the log and for `situs doctor`. */
export const NODE_COST =
  'the HTTP server of Node.js answers instead, which needs more processor time for each request';

async function nodeServer(fault: Fault, tls: Config['tls']): Promise<RawServer> {
  // Loaded only when it is needed, since most services have the native server.
  const { NodeServer } = await import('./node-server.js');
  return new NodeServer(fault, tls);
}

/**
 * Makes a server that does not listen yet.
 * @throws Error in a sentence for the operator when the certificate cannot be used, or the native
 * server is required and cannot be loaded.
 */
export async function createServer({
  transport = 'auto',
  tls = null,
  fault = () => undefined,
  log = SILENT,
}: TransportOptions = {}): Promise<RawServer> {
  if (transport === 'node') return nodeServer(fault, tls);
  const { createNativeServer, NativeUnavailable } = await import('./uws.js');
  try {
    return await createNativeServer(fault, tls);
  } catch (error) {
    if (!(error instanceof NativeUnavailable)) throw error;
    if (transport === 'native') {
      throw new Error(`SITUS_TRANSPORT is native, and that server cannot load: ${error.message}`);
    }
    log.warn(`the native HTTP server cannot load: ${NODE_COST}`, {
      transport: 'node',
      reason: error.message,
    });
    return nodeServer(fault, tls);
  }
}
