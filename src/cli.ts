#!/usr/bin/env node
/** The `situs` command. */
import { asksHelp, UsageError } from './cli/usage.js';

interface Command {
  readonly usage: string;
  /** Gets the arguments and returns the process's exit code. */
  readonly run: (args: readonly string[]) => Promise<number>;
}

interface Entry {
  /** Loaded when it is asked for, so that each starts at once. */
  readonly load: () => Promise<Command>;
  readonly meaning: string;
}

const COMMANDS: Readonly<Record<string, Entry>> = {
  serve: {
    load: () => import('./cli/serve.js').then(
      ({ USAGE: usage, serveCommand: run }) => ({ usage, run }),
    ),
    meaning: 'answer over HTTP on HOST:PORT',
  },
  lookup: {
    load: () => import('./cli/lookup.js').then(
      ({ USAGE: usage, lookupCommand: run }) => ({ usage, run }),
    ),
    meaning: 'the rates of an address, a point or a ZIP',
  },
  bulk: {
    load: () => import('./cli/bulk.js').then(
      ({ USAGE: usage, bulkCommand: run }) => ({ usage, run }),
    ),
    meaning: 'the rates of every row of a CSV or NDJSON file',
  },
  lint: {
    load: () => import('./cli/lint.js').then(
      ({ USAGE: usage, lintCommand: run }) => ({ usage, run }),
    ),
    meaning: 'how well the addresses of a file are found',
  },
  dataset: {
    load: () => import('./cli/dataset.js').then(
      ({ USAGE: usage, datasetCommand: run }) => ({ usage, run }),
    ),
    meaning: 'build, fetch, verify, activate, rollback, list, diff, coverage',
  },
  key: {
    load: () => import('./cli/key.js').then(
      ({ USAGE: usage, keyCommand: run }) => ({ usage, run }),
    ),
    meaning: 'create, list, update and disable API keys',
  },
  events: {
    load: () => import('./cli/events.js').then(
      ({ USAGE: usage, eventsCommand: run }) => ({ usage, run }),
    ),
    meaning: 'list what is to be sent, send again, enable',
  },
  secrets: {
    load: () => import('./cli/secrets.js').then(
      ({ USAGE: usage, secretsCommand: run }) => ({ usage, run }),
    ),
    meaning: 'rotate the key that seals credentials',
  },
  store: {
    load: () => import('./cli/store.js').then(
      ({ USAGE: usage, storeCommand: run }) => ({ usage, run }),
    ),
    meaning: 'backup, verify, restore',
  },
  doctor: {
    load: () => import('./cli/doctor.js').then(
      ({ USAGE: usage, doctorCommand: run }) => ({ usage, run }),
    ),
    meaning: 'check that everything the service needs is there',
  },
  simulate: {
    load: () => import('./cli/simulate.js').then(
      ({ USAGE: usage, simulateCommand: run }) => ({ usage, run }),
    ),
    meaning: 'a compliance provider to try the service with',
  },
};

function help(): string {
  const lines = Object.entries(COMMANDS)
    .map(([name, command]) => `  ${name.padEnd(10)} ${command.meaning}`);
  return [
    'situs COMMAND …', '', ...lines, '', 'situs COMMAND --help tells more.',
    'situs --version tells the version.', '',
  ].join('\n');
}

async function run(argv: readonly string[]): Promise<number> {
  const [name, ...rest] = argv;
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    process.stdout.write(help());
    return name === undefined ? 2 : 0;
  }
  if (name === '--version' || name === '-v') {
    const { packageVersion } = await import('./cli/version.js');
    process.stdout.write(`${packageVersion()}\n`);
    return 0;
  }
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (command === undefined) throw new UsageError(`no command "${name}"\n\n${help()}`);
  const { usage, run } = await command.load();
  if (!asksHelp(rest)) return run(rest);
  process.stdout.write(usage);
  return 0;
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
