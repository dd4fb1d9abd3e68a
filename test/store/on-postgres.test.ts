/** The tests of whatever opens a store, as they are, with every store in PostgreSQL. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { programOf, Sharing } from '../../scripts/together.js';
import { LATER_OPTIMIZED } from '../support/built-dataset.js';
import { dropSchemas, hasPostgres, newPrefix } from '../support/postgres.js';

/** As the runner has it: room for what is new, which is then looked through less often. */
const ROOMY = ['--min-semi-space-size=16', '--max-semi-space-size=64'];

const PRELOAD = fileURLToPath(new URL('../support/on-postgres.js', import.meta.url));

/** Reads, turns or counts what is in the file of the embedded store. */
const FILE = 'of the file';
/** Another handle sees a write within the second that is stated, not with the next read. */
const AT_ONCE = 'at once';

/**
 * Each file, with the tests of it that are of the embedded store and so may fail here. Files that
 * are of nothing else are left out: backup, damaged-*, server-claim, store-fault. So are those that
 * reach no line of the store that others here do not: account/rate, account/share, bulk/job-release,
 * merchant/gate.
 */
const FILES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'store/audit': {},
  'store/audit-entries': {},
  'store/audit-layouts': {},
  'store/gather': {},
  'store/group-commit': {
    'writes of many clients share commits': FILE,
    'a result is there for others before it is returned': AT_ONCE,
  },
  'store/idempotency': {},
  'store/invited': {},
  'store/keys': { 'no key is on the disk, only its hash': FILE },
  'store/merchant-cache': {
    'a change by another handle is seen as soon as it is looked for': AT_ONCE,
  },
  'store/outbox': {},
  'store/outbox-seal': {},
  'store/rotation': {
    'a damaged record keeps nothing else from being wrapped anew, and the old key': FILE,
  },
  'store/service-clock': {},
  'store/share': {},
  'store/store': {
    'keys are looked at again when one changed, and not for other changes': AT_ONCE,
    'a write tells of what it changed before it returns, once for all that share a commit': AT_ONCE,
    'a store of a newer program is refused': FILE,
  },
  'store/unstored-outcomes': {},
  'store/usage': {},
  'store/usage-kill': {},
  'store/vault': {},
  'merchant/handler': {},
  'merchant/nexus-locator': {},
  'merchant/statuses': {},
  'account/handler': {},
  'http/key-scope': {},
  'bulk/job-registry': {},
  'event/service': {},
};

const prefix = newPrefix();
after(() => dropSchemas(prefix).catch(() => undefined));

/** What a program of tests writes. */
async function outputOf(program: string): Promise<string> {
  const child = spawn(
    process.execPath,
    [...ROOMY, ...LATER_OPTIMIZED, '--test-reporter=tap', program],
    {
      env: {
        ...process.env,
        SITUS_TEST_SCHEMAS: prefix,
        NODE_OPTIONS: `--import=${PRELOAD}`,
        // A test in a process of a test would tell the outer one of itself.
        NODE_TEST_CONTEXT: undefined,
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  let text = '';
  child.stdout.on('data', (piece: Buffer) => {
    text += piece.toString();
  });
  await once(child, 'close');
  return text;
}

const TESTS = fileURLToPath(new URL('..', import.meta.url));

function pathOf(file: string): string {
  return join(TESTS, `${file}.test.js`);
}

/** The outputs of files by their names: those that may share a process are run in one. */
async function outputs(): Promise<ReadonlyMap<string, string>> {
  const sharing = new Sharing(TESTS);
  const all = Object.keys(FILES);
  // Those that start processes too: what loads the service for one file serves all others.
  const shared = all.filter((file) => sharing.companyOf(pathOf(file)) !== 'alone');
  const dir = mkdtempSync(join(tmpdir(), 'situs-on-postgres-'));
  try {
    const program = join(dir, 'shared.mjs');
    writeFileSync(program, programOf(shared.map(pathOf), shared));
    const [, ...suites] = (await outputOf(program)).split(/^# Subtest: /m);
    // Lines of a suite are indented; without that they are those of a file of its own.
    const told = new Map(
      suites.map((text) => [text.slice(0, text.indexOf('\n')), text.replaceAll(/^ {4}/gm, '')]),
    );
    for (const file of all.filter((each) => !shared.includes(each))) {
      told.set(file, await outputOf(pathOf(file)));
    }
    return told;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

let asked: ReturnType<typeof outputs> | null = null;

for (const [file, expected] of Object.entries(FILES)) {
  test(`${file}: with its store in PostgreSQL`, async (context) => {
    if (!(await hasPostgres(context))) return;
    asked ??= outputs();
    const text = (await asked).get(file) ?? '';
    const failed = [...text.matchAll(/^not ok \d+ - (.*)$/gm)]
      .map(([, name = '']) => name)
      .filter((name) => name !== file && !(name in expected));
    assert.ok(/^ok \d+ - /m.test(text), text.slice(0, 2_000));
    assert.deepEqual(failed, [], text.slice(0, 8_000));
  });
}
