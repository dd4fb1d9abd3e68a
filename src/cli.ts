#!/usr/bin/env node
/** The `situs` command. */
import { BAD_USAGE, runCommand } from './cli/program.js';
import { UsageError } from './cli/usage.js';

/** As a shell tells of a program that was ended because nobody reads what it writes. */
const READER_GONE = 141;

// A reader that has seen enough, such as `head`, is no fault worth a word; but not all was written.
for (const output of [process.stdout, process.stderr]) {
  output.on('error', (error: Error) => {
    if ('code' in error && error.code === 'EPIPE') process.exit(READER_GONE);
    if (output === process.stdout) process.stderr.write(`situs: cannot write: ${error.message}\n`);
    process.exit(1);
  });
}

runCommand(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    process.stderr.write(`situs: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = error instanceof UsageError ? BAD_USAGE : 1;
  },
);
