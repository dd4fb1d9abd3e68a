/** The commands of `situs dataset`: their arguments, options and help. */
import { Option, type Command } from '@commander-js/extra-typings';
import {
  type End,
  inThisProcess,
  oneMore,
  THREADS_MAX,
  wholeNumber,
  withoutFindings,
} from './command-line.js';

/** The option that says whose signatures are required. */
function requireSignature() {
  return new Option(
    '--require-signature <PUBLIC_KEY>',
    'take none that is not signed with this ' +
      'key or the one in this PEM file; repeatable; as SITUS_REQUIRE_SIGNATURE says unless given',
  ).argParser<readonly string[]>(oneMore);
}

/** Commands on a release as a single file. */
function bundleCommands(dataset: Command): void {
  dataset
    .command('sign')
    .description('vouch for a release with a private key (ed25519)')
    .argument('[RELEASE]', 'the active one unless given')
    .option('--key <FILE>', 'the private key, as PEM')
    .option('--new-key <FILE>', 'make a private key in this file and print the public one')
    .action(async (name, asked) => (await import('./dataset-bundle.js')).signCommand(name, asked));
  dataset
    .command('pack')
    .description('put a whole release into one file')
    .argument('[RELEASE]', 'the active one unless given')
    .argument('[FILE]', 'RELEASE.situs unless given')
    .option('--quiet', 'no progress')
    .action(async (name, file, asked) =>
      (await import('./dataset-bundle.js')).packCommand(name, file, asked),
    );
  dataset
    .command('unpack')
    .description('take a release out of such a file, checked')
    .argument('<FILE>')
    .option('--activate', 'let it answer at once')
    .addOption(requireSignature())
    .option('--quiet', 'no progress')
    .action(async (file, asked) =>
      (await import('./dataset-bundle.js')).unpackCommand(file, asked),
    );
}

/** Commands on which release is active, here or with --fleet on every node. */
function choosingCommands(dataset: Command): void {
  const fleet = 'for all nodes, at the place of SITUS_DATASETS';
  const force = 'with --fleet: also where a node has not prepared it';
  dataset
    .command('push')
    .description('put a release into the place of SITUS_DATASETS')
    .argument('[RELEASE]', 'the active one unless given')
    .option('--quiet', 'no progress')
    .action(async (name, asked) => (await import('./dataset-fleet.js')).pushCommand(name, asked));
  dataset
    .command('activate')
    .description('check it and make it the one that answers')
    .argument('<RELEASE>')
    .option('--fleet', fleet)
    .option('--force', force)
    .addOption(requireSignature())
    .action(async (name, asked) =>
      asked.fleet
        ? (await import('./dataset-fleet.js')).activateFleet(name, asked)
        : (await import('./dataset-local.js')).activateCommand(name, asked),
    );
  dataset
    .command('rollback')
    .description('go back to the one before, checked likewise')
    .option('--fleet', fleet)
    .option('--force', force)
    .action(async (asked) =>
      asked.fleet
        ? (await import('./dataset-fleet.js')).rollbackFleet(asked)
        : (await import('./dataset-local.js')).rollbackCommand(),
    );
  dataset
    .command('list')
    .description('all releases, and why each is kept')
    .option('--fleet', 'those of the place, and what each node has')
    .option('--json', 'for programs')
    .action(async (asked) =>
      asked.fleet
        ? (await import('./dataset-fleet.js')).listFleet(asked)
        : (await import('./dataset-local.js')).listCommand(asked),
    );
  dataset
    .command('prune')
    .description('remove the releases that nothing speaks for')
    .option('--list', 'say which, and remove none')
    .option('--fleet', 'from the place of SITUS_DATASETS')
    .action(async (asked) =>
      asked.fleet
        ? (await import('./dataset-fleet.js')).pruneFleet(asked)
        : (await import('./dataset-local.js')).pruneCommand(asked),
    );
}

function buildCommands(dataset: Command, end: End): void {
  dataset
    .command('update')
    .description('fetch what is new, build, verify, compare, ask, and let it answer')
    .argument('[STATES...]', 'whose sources, such as vt wa ca; those of the recipe unless given')
    .option('--all', 'the sources of the whole catalogue')
    .option('--mirror <URL|DIR>', 'from there by host and path, not from the publishers')
    .option('--sources <DIR>', "the folder of publishers' files; SITUS_VAR/sources unless given")
    .option('--recipe <NAME>', 'which recipe; that of the active release unless given')
    .option('--layer <FILE>', 'a table of your own rates, over all others; repeatable', oneMore)
    .option(
      '--workers <N>',
      'threads that read addresses; one for each processor unless given',
      wholeNumber(1, THREADS_MAX),
    )
    .option('--sign <KEY>', 'sign what is built with the private key in this file')
    .option('--yes', 'activate without asking')
    .option('--quiet', 'no progress')
    .addHelpText(
      'after',
      '\nExit codes: 0 nothing has changed, or the new release answers; ' +
        '1 failure; 3 the same as 0,\nbut some files could not be got; 4 the new release waits ' +
        'to be activated; 130 interrupted.\nWhat was done stays, and the same command goes on.',
    )
    .action(async (states, asked) =>
      end(await (await import('./dataset-update.js')).updateCommand(states, asked)),
    );
  dataset
    .command('build')
    .description('make a release and tell its name')
    .option('--recipe <NAME>', 'which recipe', 'default')
    .option('--sources <DIR>', "the folder of publishers' files")
    .option('--with <LAYER>', 'a layer of the recipe; repeatable', oneMore)
    .option('--layer <FILE>', 'a table of your own rates, over all others; repeatable', oneMore)
    .option(
      '--workers <N>',
      'threads that read addresses; one for each processor unless given',
      wholeNumber(1, THREADS_MAX),
    )
    .option('--keep-parts', 'keep what was read; the next such build reads only what changed')
    .option('--activate', 'let it answer at once')
    .option('--sign <KEY>', 'sign it with the private key in this file')
    .addOption(requireSignature())
    .option('--quiet', 'no progress')
    .addOption(inThisProcess())
    .addOption(withoutFindings())
    .action(async (asked) => end(await (await import('./dataset-build.js')).buildCommand(asked)));
}

/** Declares all of them below `situs`. */
export function releaseCommands(program: Command, end: End): void {
  const dataset = program
    .command('dataset')
    .description(
      'update, build, sources, fetch, verify, activate, rollback, list, diff, coverage, ' +
        'sign, pack, unpack, push, prune',
    );
  buildCommands(dataset, end);
  dataset
    .command('verify')
    .description('check a release byte for byte, and what it says')
    .argument('[RELEASE]', 'the active one unless given')
    .option('--against <RELEASE>', 'whose lists to compare; the active one unless given')
    .option('--json', 'the findings, for programs')
    .action(async (name, asked) =>
      end(await (await import('./dataset-local.js')).verifyCommand(name, asked)),
    );
  choosingCommands(dataset);
  bundleCommands(dataset);
  dataset
    .command('diff')
    .description('what has another rate in B than in A')
    .argument('<A>')
    .argument('<B>')
    .option('--date <YYYY-MM-DD>', 'on which day; today unless given')
    .option('--json', 'all of it, for programs')
    .action(async (from, to, asked) =>
      (await import('./dataset-diff.js')).diffCommand(from, to, asked),
    );
  dataset
    .command('coverage')
    .description('what is known, per state')
    .argument('[RELEASE]', 'the active one unless given')
    .option('--population', 'how surely addresses and spots are answered, by population')
    .option('--weights <FILE>', 'the same by what each ZIP counts: a CSV file of ZIP and figure')
    .option('--json', 'for programs')
    .action(async (name, asked) =>
      (await import('./dataset-local.js')).coverageCommand(name, asked),
    );
  dataset
    .command('sources')
    .description('the catalogue of sources')
    .option('--json', 'for programs')
    .action(async (asked) => (await import('./catalogue-fetch.js')).sourcesCommand(asked));
  dataset
    .command('fetch')
    .description("get publishers' files")
    .option('--to <DIR>', 'into which folder')
    .option('--source <NAME>', 'the newest file of a source of the catalogue; repeatable', oneMore)
    .option('--state <XX>', 'the newest files of a state; repeatable', oneMore)
    .option('--all', 'the newest files of the whole catalogue')
    .option('--mirror <URL|DIR>', 'from there by host and path, not from the publishers')
    .option('--recipe <NAME>', 'whose files', 'reference')
    .option('--downloads <FILE>', 'a list of downloads of your own')
    .option('--only <TEXT>', 'those whose path has it; repeatable', oneMore)
    .option('--again', 'also those that are there')
    .option('--list', 'say which and from where, and get none')
    .option('--quiet', 'no progress')
    .action(async (asked) => end(await (await import('./dataset-fetch.js')).fetchCommand(asked)));
}
