#!/usr/bin/env node
/** The `situs` command. */
import { UsageError } from './cli/usage.js';

/** A command gets its arguments and returns the process's exit code. */
type Command = (args: readonly string[]) => Promise<number>;

interface Entry {
  /** Loaded when it is asked for, so that each starts at once. */
  readonly load: () => Promise<Command>;
  readonly meaning: string;
}

const COMMANDS: Readonly<Record<string, Entry>> = {
  serve: {
    load: async () => (await import('./cli/serve.js')).serveCommand,
    meaning: 'answer over HTTP on HOST:PORT',
  },
  lookup: {
    load: async () => (await import('./cli/lookup.js')).lookupCommand,
    meaning: 'the rates of an address, a point or a ZIP',
  },
  bulk: {
    load: async () => (await import('./cli/bulk.js')).bulkCommand,
    meaning: 'the rates of every row of a CSV or NDJSON file',
  },
  lint: {
    load: async () => (await import('./cli/lint.js')).lintCommand,
    meaning: 'how well the addresses of a file are found',
  },
  dataset: {
    load: async () => (await import('./cli/dataset.js')).datasetCommand,
    meaning: 'build, fetch, verify, activate, rollback, list, diff, coverage',
  },
  key: {
    load: async () => (await import('./cli/key.js')).keyCommand,
    meaning: 'create, list, update and disable API keys',
  },
  events: {
    load: async () => (await import('./cli/events.js')).eventsCommand,
    meaning: 'list what is to be sent, send again, enable',
  },
  secrets: {
    load: async () => (await import('./cli/secrets.js')).secretsCommand,
    meaning: 'rotate the key that seals credentials',
  },
  store: {
    load: async () => (await import('./cli/store.js')).storeCommand,
    meaning: 'backup, verify, restore',
  },
  doctor: {
    load: async () => (await import('./cli/doctor.js')).doctorCommand,
    meaning: 'check that everything the service needs is there',
  },
  simulate: {
    load: async () => (await import('./cli/simulate.js')).simulateCommand,
    meaning: 'a compliance provider to try the service with',
  },
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
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (command === undefined) throw new UsageError(`no command "${name}"\n\n${help()}`);
  const run = await command.load();
  return run(rest);
}

/** A wrong option, as node:util tells it, is bad usage too. */
function isUsage(error: unknown): boolean {
  return error instanceof UsageError || (error instanceof Error && 'code' in error
    && String(error.code).startsWith('ERR_PARSE_ARGS_'));
}

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

run(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    process.stderr.write(`situs: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = isUsage(error) ? 2 : 1;
  },
);
