/** What libraries write to the console of a server. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLog, logConsole } from '../../src/log.js';

test('what a library says is a line of the log, and none is glued to words before it', () => {
  let written = '';
  const write = (text: string): void => {
    written += text;
  };
  const before = console.error;
  const end = logConsole(createLog('info', write), write);
  try {
    // As the native code of LMDB does.
    write('Write error: No space left on device position 32768, size 8192');
    console.error(new Error('No space left on device'));
    console.warn('old', 'option');
  } finally {
    end();
  }
  assert.equal(console.error, before);
  const [native, ...lines] = written.split('\n').filter((line) => line !== '');
  assert.match(native!, /size 8192$/);
  const told = lines.map((line) => {
    const { level, event, message } = JSON.parse(line) as Record<string, unknown>;
    return [level, event, message];
  });
  assert.deepEqual(told, [
    ['error', 'library', 'No space left on device'],
    ['warn', 'library', 'old option'],
  ]);
});
