/** The command of the Debian package: as whom it runs, and with which settings. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { packageRoot } from '../../src/ingest/source-files.js';
import { newVarDir } from '../support/http-var-dir.js';

const packaging = (file: string): string => join(packageRoot(), 'packaging', file);

/** Runs it below a folder as root, where the owner of every folder but root's is `owner`. */
function run(
  context: TestContext,
  {
    owner,
    settings = '',
    given = {},
  }: {
    readonly owner: string;
    readonly settings?: string;
    readonly given?: Readonly<Record<string, string>>;
  },
): string {
  const dir = newVarDir(context);
  const [bin, command] = [join(dir, 'bin'), join(dir, 'usr/bin/situs')];
  for (const folder of [bin, join(dir, 'usr/bin'), join(dir, 'etc/default')]) {
    mkdirSync(folder, { recursive: true });
  }
  cpSync(packaging('debian/situs'), command);
  writeFileSync(join(dir, 'etc/default/situs'), settings);
  for (const [name, text] of Object.entries({
    id: 'echo 0',
    stat: owner === '' ? 'exit 1' : `echo ${owner}`,
    runuser: 'echo "user=$2"; shift 3; exec "$@"',
    node: 'env',
  })) {
    writeFileSync(join(bin, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  }
  return execFileSync('/bin/sh', [command, 'doctor'], {
    encoding: 'utf8',
    env: { PATH: `${bin}:/usr/bin:/bin`, ...given },
  });
}

test('called by root it runs as the owner of the folder of the service, wherever that is', (context) => {
  for (const [owner, settings, user] of [
    ['situs', '', 'situs'],
    ['situs', 'SITUS_VAR=/var/lib/situs/', 'situs'],
    ['tax', 'SITUS_VAR=/srv/tax', 'tax'],
    // A folder that is not there yet, or whose owner has no name.
    ['', '', 'situs'],
    ['UNKNOWN', '', 'situs'],
  ] as const) {
    assert.match(run(context, { owner, settings }), new RegExp(`^user=${user}$`, 'm'), settings);
  }
  assert.doesNotMatch(run(context, { owner: 'root' }), /^user=/m);
});

test('it has the settings of the unit, unless others are given', (context) => {
  const unit = readFileSync(packaging('situs.service'), 'utf8');
  const [, set = ''] = /^Environment=(.*)$/m.exec(unit) ?? [];
  const lines = run(context, { owner: 'situs' }).split('\n');
  assert.ok(set.split(' ').length >= 4, set);
  for (const each of set.split(' ')) assert.ok(lines.includes(each), each);
  const settings = 'SITUS_SUPERVISED=0';
  assert.match(run(context, { owner: 'situs', settings }), /^SITUS_SUPERVISED=0$/m);
  const given = { SITUS_VAR: '/srv/other' };
  assert.match(run(context, { owner: 'situs', given }), /^SITUS_VAR=\/srv\/other$/m);
});
