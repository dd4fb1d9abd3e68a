/**
 * All commands of `situs`, with their arguments, options and help. The code of a command is loaded
 * only when it runs, so that each starts quickly.
 */
import { Command, type CommandUnknownOpts } from '@commander-js/extra-typings';
import { CommanderError } from 'commander';
import { packageVersion } from '../base/process.js';
import { FAULT_HEADER } from '../provider/simulator/faults.js';
import { releaseCommands } from './dataset-program.js';
import { storeCommands } from './store-program.js';
import {
  BAD_USAGE,
  type End,
  oneMore,
  refuseMisread,
  THREADS_MAX,
  UsageError,
  wholeNumber,
} from './command-line.js';

const SIMULATOR_NUMBER_MAX = 999_999_999;
const SIMULATOR_PORT = 8790;
const PORT_MAX = 65_535;
/** How long a broker waits for the acknowledgement of a message. */
const ACK_SECONDS = 30;
const ACK_SECONDS_MAX = 3_600;
/** Most messages that a broker delivers before the first is acknowledged. */
const PENDING = 2_048;
const PENDING_MAX = 1_000_000;

/** Options on how the rows of a file are read. */
function rowOptions(command: Command, formats: string) {
  return command
    .argument('<FILE>', `${formats}, plain or gzip; - is standard input`)
    .option('--input <FORMAT>', 'how FILE is read, csv or ndjson; told from its name unless given')
    .option('--map <ROLE:COLUMN>', 'which column is what; repeatable', oneMore)
    .option(
      '--delimiter <NAME>',
      'comma, semicolon, tab or pipe; told from the header unless given',
    )
    .option(
      '--default <NAME=VALUE>',
      'a parameter for every row without one, e.g. historical=202506; repeatable',
      oneMore,
    )
    .option('--dataset <NAME>', 'the dataset that answers; the active one unless given')
    .option('--at <TIME>', 'the moment that today is told from, with --dataset; now unless given');
}

/** `situs bulk`. */
function bulkCommand(program: Command, end: End): void {
  rowOptions(program.command('bulk'), 'CSV or NDJSON')
    .description('the rates of every row of a CSV or NDJSON file')
    .option('-o, --output <OUT>', 'the file to write; - is standard output', '-')
    .option('--format <FORMAT>', 'how OUT is written, csv or ndjson; as FILE is unless given')
    .option('--kind <KIND>', 'what each row asks for: lookup or cart', 'lookup')
    .option('--strict', 'all rows or none')
    .option('--resume', 'go on with an OUT that was interrupted')
    .option(
      '--threads <N>',
      'one for each processor, fewer for a small FILE, unless given',
      wholeNumber(1, THREADS_MAX),
    )
    .option('--fleet <URL>', 'nodes that answer, in place of this machine: nats://HOST:PORT/NAME')
    .option('--quiet', 'no progress')
    .addHelpText(
      'after',
      '\nExit codes: 0 every row was answered, 3 some were refused, 1 failure,' +
        '\n130 interrupted, 141 nobody reads the output any more.',
    )
    .action(async (file, asked) => {
      end(await (await import('./bulk.js')).bulkCommand(file, asked));
    });
}

/** `situs stream`. */
function streamCommand(program: Command, end: End): void {
  const seconds = wholeNumber(1, ACK_SECONDS_MAX);
  program
    .command('stream')
    .description('answer the lookups and carts of a NATS JetStream subject')
    .requiredOption('--nats <URL>', 'nats://HOST:PORT or tls://…; several between commas')
    .requiredOption('--from <SUBJECT>', 'where lookups and carts come from')
    .requiredOption('--to <SUBJECT>', 'where answers go; a last token * is that of the message')
    .requiredOption('--failed <SUBJECT>', 'where messages go that are refused')
    .option('--durable <NAME>', 'the consumer; processes with the same one share the work', 'situs')
    .option('--ordered', 'keep the order of messages with the same last token; one process')
    .option('--create', 'make streams of these subjects where there are none')
    .option(
      '--ack-wait <SECONDS>',
      'when a message without answer is given to another process',
      seconds,
      ACK_SECONDS,
    )
    .option(
      '--max-pending <N>',
      'unanswered messages of all processes together',
      wholeNumber(1, PENDING_MAX),
      PENDING,
    )
    .option('--creds <FILE>', 'credentials for the broker')
    .option('--dataset <NAME>', 'the dataset that answers; the active one unless given')
    .option('--at <TIME>', 'the moment that today is told from, with --dataset; now unless given')
    .option('--threads <N>', 'one for each processor unless given', wholeNumber(1, THREADS_MAX))
    .option('--quiet', 'no progress')
    .addHelpText(
      'after',
      '\nEnds at Ctrl-C or SIGTERM, when what is in hand is answered, with ' +
        'exit code 0;\n1 failure.',
    )
    .action(async (asked) => {
      end(await (await import('./stream.js')).streamCommand(asked));
    });
}

function answerCommands(program: Command, end: End): void {
  program
    .command('serve')
    .description('answer over HTTP on HOST:PORT')
    .action(async () => {
      await import('../main.js');
    });
  program
    .command('lookup')
    .description('the rates of an address, a point or a ZIP')
    .argument('<TEXT...>', 'an address, a point as latitude,longitude, or a ZIP')
    .option('--json', 'the answer as the API gives it')
    .option('--country <CODE>', 'USA unless given, or CAN, PRI, ASM, GUM, MNP, VIR')
    .option('--historical <YYYYMM>', 'rates of a past month')
    .option('--tic <CODE>', 'what a product is taxed with, such as 20010 (clothing)')
    .option('--receipt <FILE>', 'write a receipt of the answer, for situs replay')
    .action(async (words, asked) => {
      const { lookupCommand } = await import('./lookup.js');
      end(await lookupCommand(words.join(' '), asked));
    });
  program
    .command('replay')
    .description('the answer that a receipt is of, once more')
    .argument('<RECEIPT>', 'the file of the receipt; - is standard input')
    .option('--body <FILE>', 'the body of the request, where it had one')
    .addHelpText(
      'after',
      '\nExit codes: 0 the answer is the same byte for byte, 3 it is not, 1 ' + 'failure.',
    )
    .action(async (file, asked) => {
      end(await (await import('./replay.js')).replayCommand(file, asked));
    });
  bulkCommand(program, end);
  streamCommand(program, end);
  rowOptions(program.command('lint'), 'CSV')
    .description('how well the addresses of a CSV file are found')
    .option('--json', 'the report for programs')
    .addHelpText(
      'after',
      '\nExit codes: 0 every row is exact and without fault, 3 it is not, 1 failure.',
    )
    .action(async (file, asked) => {
      end(await (await import('./lint.js')).lintCommand(file, asked));
    });
}

function trialCommands(program: Command, end: End): void {
  program
    .command('doctor')
    .description('check that everything the service needs is there')
    .option('--json', 'for programs')
    .addHelpText(
      'after',
      '\nThe exit code is 1 where something keeps the service from working, else 0.',
    )
    .action(async (asked) => end(await (await import('./doctor.js')).doctorCommand(asked)));
  const number = wholeNumber(0, SIMULATOR_NUMBER_MAX);
  program
    .command('simulate')
    .description('a compliance provider to try the service with')
    .command('provider')
    .description('a compliance provider in memory, until Ctrl-C')
    .option(
      '--port <N>',
      'listens on 127.0.0.1:N; 0 takes a free port',
      wholeNumber(0, PORT_MAX),
      SIMULATOR_PORT,
    )
    .option('--seed <N>', 'makes ids and faults come out the same each time', number, 1)
    .option('--key <KEY>', 'the API key that every connection has', 'simulated-key')
    .option('--slow-ms <N>', 'how long a slow answer takes, in milliseconds', number, 60_000)
    .option(
      '--faults <SHARES>',
      'share of requests that go wrong: slow=0.1,reset=0.05,429=0.1,500=0.1,garbage=0.1,large=0.1',
    )
    .addHelpText(
      'after',
      `
A request with the header ${FAULT_HEADER} meets the fault named there. Any
connection id exists. Rates are invented. Situs talks to it with
  SITUS_PROVIDER_URL=http://127.0.0.1:${SIMULATOR_PORT} SITUS_ALLOW_PRIVATE_NETWORK=1 situs serve`,
    )
    .action(async (asked) => (await import('./simulate.js')).simulateCommand(asked));
}

function situs(words: readonly string[], end: End): Command {
  const program = new Command('situs')
    .version(packageVersion(), '-v, --version')
    .description('Open, self-hosted sales-tax rates for the US and Canada')
    // An option after a subcommand belongs to that one, and words after -- are never options.
    .enablePositionalOptions()
    .allowExcessArguments()
    .configureOutput({ outputError: () => undefined })
    .exitOverride()
    .hook('preAction', (_, command) => refuseMisread(command, words));
  answerCommands(program, end);
  releaseCommands(program, end);
  storeCommands(program, end);
  trialCommands(program, end);
  return program;
}

/** Codes by which commander reports a command line that is not valid. */
const UNKNOWN_OPTION = 'commander.unknownOption';
const MISSING_OPTION = 'commander.missingMandatoryOptionValue';

/** A point that begins with a negative coordinate, which commander would read as an option. */
const NEGATIVE = /^-[\d.]/;

/**
 * Looks for an unknown option where commander reports that a required one is missing. Most often
 * the required one is misspelt. Parses without running anything; null where there is none.
 */
async function unknownBeside(words: readonly string[]): Promise<CommanderError | null> {
  const program = situs(words, () => undefined).hook('preAction', () => {
    throw new UsageError('an option is missing');
  });
  const all = (command: CommandUnknownOpts): readonly CommandUnknownOpts[] => [
    command,
    ...command.commands.flatMap(all),
  ];
  for (const { options } of all(program)) {
    for (const option of options) option.mandatory = false;
  }
  try {
    await program.parseAsync(words, { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError && error.code === UNKNOWN_OPTION) return error;
  }
  return null;
}

/** What commander reports about a command line, as one sentence. */
async function badUsage(error: CommanderError, words: readonly string[]): Promise<UsageError> {
  const told = error.code === MISSING_OPTION ? ((await unknownBeside(words)) ?? error) : error;
  return new UsageError(
    told.message
      .replace(/^error: /, '')
      .replace(/^(unknown \w+) '(.+)'/, '$1 $2')
      .replace(/\n\(Did you mean (.+)\?\)$/, '; did you mean $1?'),
  );
}

/**
 * Runs the command of these words, which follow `situs`, and returns the exit code.
 * @throws UsageError for words that are not valid, Error for what failed.
 */
export async function runCommand(words: readonly string[]): Promise<number> {
  let code = 0;
  const program = situs(words, (ended) => {
    code = ended;
  });
  if (words.length === 0) {
    program.outputHelp();
    return BAD_USAGE;
  }
  // With a blank in front it is read as an argument. The blank is removed when the point is read.
  const read = words.map((word) =>
    words[0] === 'lookup' && NEGATIVE.test(word) ? ` ${word}` : word,
  );
  try {
    await program.parseAsync(read, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return 0;
    // A group of commands was named without a command, so its help was printed.
    if (error.code === 'commander.help') return BAD_USAGE;
    throw await badUsage(error, read);
  }
  return code;
}
