#!/usr/bin/env node
/** The `situs` command. */
import { datasetCommand } from './cli/dataset.js';
import { keyCommand } from './cli/key.js';
import { lookupCommand } from './cli/lookup.js';
import { serveCommand } from './cli/serve.js';
import { UsageError } from './cli/usage.js';

/** A command gets its arguments and returns the process's exit code. */
type Command = (args: readonly string[]) => Promise<number>;

const COMMANDS: Readonly<Record<string, { readonly run: Command; readonly meaning: string }>> = {
  serve: { run: serveCommand, meaning: 'answer over HTTP on HOST:PORT' },
  lookup: { run: lookupCommand, meaning: 'the rates of an address, a point or a ZIP' },
  dataset: { run: datasetCommand, meaning: 'build, verify, activate, rollback, list, coverage' },
  key: { run: keyCommand, meaning: 'create, list, update and disable API keys' },
};

function help(): string {
  const lines = Object.entries(COMMANDS)
    .map(([name, command]) => `  ${name.padEnd(10)} ${command.meaning}`);
  return ['situs COMMAND …', '', ...lines, '', 'situs COMMAND --help tells more.', ''].join('\n');
}

async function run(argv: readonly string[]): Promise<number> {
  const [name, ...rest] = argv;
  if (name === undefined || name === '--help' || name === 'help') {
    process.stdout.write(help());
    return name === undefined ? 2 : 0;
  }
  const command = COMMANDS[name];
  if (command === undefined) throw new UsageError(`no command "${name}"\n\n${help()}`);
  return command.run(rest);
}

/** A wrong option, as node:util tells it, is bad usage too. */
function isUsage(error: unknown): boolean {
  return error instanceof UsageError || (error instanceof Error && 'code' in error
    && String(error.code).startsWith('ERR_PARSE_ARGS_'));
}

run(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    process.stderr.write(`situs: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = isUsage(error) ? 2 : 1;
  },
);
