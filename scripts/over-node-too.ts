/**
 * Tests that hold what an HTTP server underneath can get wrong (sockets, uploads, streams, TLS): they
 * are run over the native one and over that of Node.js.
 */
const NAMES: readonly string[] = [
  ...[
    'app',
    'body-order',
    'browser',
    'descriptors',
    'framing',
    'front',
    'guess-guard',
    'half-close',
    'idempotency',
    'key-scope',
    'pipeline',
    'ready',
    'reset',
    'secret-leak',
    'staying',
    'tls',
    'traces',
  ].map((name) => `http/${name}`),
  ...['socket', 'stream', 'stream-close', 'stream-stuck'].map((name) => `bulk/${name}`),
  'service/http',
  'service/stream',
  'packaging/proxies',
];

/** Their source files, below the root. */
export const OVER_NODE_TOO: readonly string[] = NAMES.map((name) => `test/${name}.test.ts`);
