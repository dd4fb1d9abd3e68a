#!/usr/bin/env node
/** The `situs` command. */
import { setFlagsFromString } from 'node:v8';
import { runCommand } from './cli/program.js';
import { endByBrokenPipe, tellFailure } from './cli/command-line.js';
import { outliveHangup } from './base/held-signals.js';
import { errorCode } from './base/error-code.js';

// A server has started this for its first dataset, and ends it with itself.
if (process.connected) outliveHangup();

/** Commands that run for long, and for which the time of each row matters. */
const LASTING: readonly (string | undefined)[] = ['serve', 'stream', 'bulk'];
/**
 * How much V8 of Node.js 20 lets a function run before it optimizes it, nine times its default of
 * 67,584. Other commands end before the optimization, done on a second thread, has paid for itself.
 * With this a lookup takes a fifth less processor time.
 */
const INTERRUPT_BUDGET = '--interrupt-budget=600000';

// Later versions of V8 have no such option, and none of theirs makes a command cheaper.
if (process.versions.v8.startsWith('11.3.') && !LASTING.includes(process.argv[2])) {
  setFlagsFromString(INTERRUPT_BUDGET);
}

// A reader that has read enough, such as `head`, is no error to report; but not all was written.
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
