/**
 * Tests of what an HTTP server can get wrong (sockets, uploads, streams, TLS). They are run over
 * the native server and over that of Node.js.
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

/** The source files of these tests, below the root. */
export const OVER_NODE_TOO: readonly string[] = NAMES.map((name) => `test/${name}.test.ts`);
