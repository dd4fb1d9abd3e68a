/** What `situs doctor` makes of figures that it is given. */
import assert from 'node:assert/strict';
import { listenerFindings, unreadyFindings } from '../../src/cli/doctor-services.js';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { diskFinding, nodeFinding } from '../../src/cli/doctor-checks.js';
import { newVarDir } from '../support/http-var-dir.js';

test('why a server is not ready is told in words', () => {
  assert.deepEqual(unreadyFindings('it', { reasons: ['draining', 'dataset', 'new'] }), [
    { level: 'note', text: 'it is not ready: the service is being stopped' },
    { level: 'fault', text: 'it is not ready: no dataset is loaded' },
    { level: 'fault', text: 'it is not ready: new' },
  ]);
});

test('versions of Node.js and free space are judged', () => {
  assert.deepEqual(
    ['18.20.0', '20.10.9', '20.11.0', '22.0.0'].map((version) => nodeFinding(version)[0]!.level),
    ['fault', 'fault', 'ok', 'ok'],
  );
  const mib = 1024 ** 2;
  assert.deepEqual(
    [0, 63 * mib, 64 * mib, 1_023 * mib, 1_024 * mib].map((free) => diskFinding(free)[0]!.level),
    ['fault', 'fault', 'warning', 'warning', 'ok'],
  );
});

test('listeners are told of, and what a replacement of them needs of the kernel', (context) => {
  const path = join(newVarDir(context), 'tcp_migrate_req');
  assert.deepEqual(listenerFindings({ listeners: 1, supervised: false }, path), [
    { level: 'ok', text: 'one server, without a supervisor' },
  ]);
  const told = (): string =>
    listenerFindings({ listeners: 2, supervised: true }, path)
      .map(({ level, text }) => `${level} ${text}`)
      .join();
  assert.match(told(), /^note 2 listeners .* net\.ipv4\.tcp_migrate_req is 1/);
  writeFileSync(path, '1\n');
  assert.equal(told(), 'ok 2 listeners with a supervisor');
});
