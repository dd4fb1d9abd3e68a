#!/usr/bin/env node
/** The `situs` command. */
import { setFlagsFromString } from 'node:v8';
import { runCommand } from './cli/program.js';
import { READER_GONE, tellFailure } from './cli/command-line.js';
import { errorCode } from './base/error-code.js';

/** Commands that go on for long, for whom each row counts. */
const LASTING: readonly (string | undefined)[] = ['serve', 'stream', 'bulk'];
/**
 * What V8 of Node.js 20 weighs before it optimizes a function, nine times its own 67,584: others
 * end before what a thread beside them optimized has paid. A lookup takes a fifth less
 * processor time.
 */
const INTERRUPT_BUDGET = '--interrupt-budget=600000';

// Later V8 has no such option, and of those it has none makes a command cheaper.
if (process.versions.v8.startsWith('11.3.') && !LASTING.includes(process.argv[2])) {
  setFlagsFromString(INTERRUPT_BUDGET);
}

/**
 * Ends as other tools do when nobody reads what they write: by SIGPIPE, which a shell tells as 141.
 * Node ignores that signal; when its last listener goes, libuv puts back what it does by default.
 * process.exit would end worker threads first, which aborts where one is still loading. What waits
 * for the end of the process, to remove what it has begun, is told first.
 */
function endByBrokenPipe(): void {
  process.emit('exit', READER_GONE);
  const listener = (): void => undefined;
  process.on('SIGPIPE', listener);
  process.off('SIGPIPE', listener);
  process.kill(process.pid, 'SIGPIPE');
}

// A reader that has seen enough, such as `head`, is no fault worth a word; but not all was written.
for (const output of [process.stdout, process.stderr]) {
  output.on('error', (error: Error) => {
    if (errorCode(error) === 'EPIPE') return endByBrokenPipe();
    if (output === process.stdout) process.stderr.write(`situs: cannot write: ${error.message}\n`);
    process.exit(1);
  });
}

void runCommand(process.argv.slice(2))
  .catch(tellFailure)
  .then((code) => {
    process.exitCode = code;
  });
