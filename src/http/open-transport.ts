/** Chooses the HTTP server underneath: the native one where it loads, or that of Node.js. */
import type { Config, TransportChoice } from '../config.js';
import { SILENT, type Log } from '../log.js';
import type { Fault, RawServer } from './transport.js';

interface TransportOptions {
  readonly transport?: TransportChoice;
  readonly tls?: Config['tls'];
  /** Told of bugs: what a handler threw, which cuts its connection. */
  readonly fault?: Fault;
  /** Told where another server answers than the one that is best. */
  readonly log?: Log;
}

/** What the choice costs, for the log and for `situs doctor`. */
export const NODE_COST =
  'the HTTP server of Node.js answers instead, which needs more processor time for each request';

async function nodeServer(fault: Fault, tls: Config['tls']): Promise<RawServer> {
  // Loaded when it is needed alone: most services never are without the native server.
  const { NodeServer } = await import('./node-server.js');
  return new NodeServer(fault, tls);
}

/**
 * Makes a server that is not listening yet.
 * @throws Error in a sentence for the operator when the certificate cannot be used, or the native
 * server is demanded and cannot be loaded.
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
