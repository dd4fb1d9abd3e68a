import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';

const PROCESS = new URL('../../src/base/process.js', import.meta.url).href;

/** Has the memory of a worker looked through. */
const FILL = `let kept = [];
for (let round = 0; round < 150; round += 1) {
  kept.push(Array.from({ length: 30_000 }, (_, at) => ({ at })));
  if (kept.length > 40) kept.shift();
}`;

interface TraceEvent {
  readonly name: string;
  /** Microseconds. */
  readonly ts: number;
  readonly dur?: number;
}

/** How often V8's shared threads looked through memory while no thread stood still for it. */
function sharedMarks(context: TestContext, first: string): number {
  const cwd = mkdtempSync(join(tmpdir(), 'situs-process-'));
  context.after(() => rmSync(cwd, { recursive: true }));
  const program = `import { Worker } from 'node:worker_threads';
    import { collectForRequests } from '${PROCESS}';
    ${first}
    new Worker(${JSON.stringify(FILL)}, { eval: true })
      .on('exit', (code) => console.log('ended', code));`;
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--trace-event-categories', 'disabled-by-default-v8.gc', '--input-type=module', '-e', program],
    { cwd, encoding: 'utf8' },
  );
  // V8 says that it does not know an option, and a check of its own ends the process.
  assert.deepEqual([status, stdout, stderr], [0, 'ended 0\n', '']);
  const { traceEvents }: { readonly traceEvents: readonly TraceEvent[] } = JSON.parse(
    readFileSync(join(cwd, 'node_trace.1.log'), 'utf8'),
  );
  const named = (name: string): readonly TraceEvent[] =>
    traceEvents.filter((event) => event.name === name);
  const still = named('V8.GC_MC_MARK');
  assert.ok(still.length > 0);
  return named('V8.GC_MC_BACKGROUND_MARKING').filter(
    ({ ts }) => !still.some((each) => ts >= each.ts && ts <= each.ts + (each.dur ?? 0)),
  ).length;
}

/** Where all processors are busy a thread may be done before the others begin. */
const TRIES = 10;

test('threads look through their memory themselves', (context) => {
  let shared = 0;
  for (let left = TRIES; left > 0 && shared === 0; left -= 1) shared = sharedMarks(context, '');
  assert.ok(shared > 0);
  assert.equal(sharedMarks(context, 'collectForRequests();'), 0);
});
