/** Answers that end before their uploads: whole, and in chunks that any client understands. */
import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import { buildRecipe } from '../support/built-dataset.js';
import { KEYS, startBulkApp } from '../support/bulk-client.js';

/** Sends a part of an upload and gives what comes back until the server closes. */
function unfinished(port: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    const parts: Buffer[] = [];
    socket
      .on('data', (piece) => parts.push(piece))
      .on('error', reject)
      .on('close', () => resolve(Buffer.concat(parts)));
    socket.write(
      `POST /bulk/lookup HTTP/1.1\r\nHost: x\r\nX-API-KEY: ${KEYS.bulk}\r\n` +
        'Content-Type: text/csv\r\nContent-Length: 500\r\n\r\nzip\n91010\n',
    );
  });
}

/** The content of a chunked answer; fails where the chunks are not well-formed. */
function contentOf(bytes: Buffer): string {
  const parts: Buffer[] = [];
  for (let at = bytes.indexOf('\r\n\r\n') + 4; ; ) {
    const line = bytes.indexOf('\r\n', at);
    const size = bytes.toString('latin1', at, line);
    assert.match(size, /^[0-9a-f]+$/i);
    const end = line + 2 + Number.parseInt(size, 16);
    assert.equal(bytes.toString('latin1', end, end + 2), '\r\n');
    if (end === line + 2) {
      assert.equal(bytes.length, end + 2, 'nothing follows the last chunk');
      return Buffer.concat(parts).toString();
    }
    parts.push(bytes.subarray(line + 2, end));
    at = end + 2;
  }
}

test('an upload that comes to rest is answered as far as it came, and its connection ends', async () => {
  const built = buildRecipe('fixture');
  const { app, port } = await startBulkApp(built.varDir, { SITUS_BULK_IDLE_SECONDS: '1' });
  try {
    const bytes = await unfinished(port);
    assert.match(bytes.toString('latin1'), /^HTTP\/1\.1 200 OK\r\n/);
    const [header = '', row = ''] = contentOf(bytes).split('\n');
    assert.match(header, /^zip,/);
    assert.match(row, /^91010,/);
  } finally {
    await app.stop();
    built.remove();
  }
});
