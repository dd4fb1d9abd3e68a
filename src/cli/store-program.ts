/** The commands on the contents of the store: keys, events, history, and the store itself. */
import { type Command, Option } from '@commander-js/extra-typings';
import { type Entitlement, ENTITLEMENTS, PLANS } from '../store/plan.js';
import { type Scope, SCOPES } from '../store/scope.js';
import { type End, inThisProcess, oneMoreOf, wholeNumber } from './command-line.js';

/** Largest rate and quota of a key, small enough to be counted exactly. */
const RATE_MAX = 999_999_999;
const QUOTA_MAX = 999_999_999_999;

const ENTITLEMENT_NAMES = Object.keys(ENTITLEMENTS) as readonly Entitlement[];
const SCOPE_NAMES = Object.keys(SCOPES) as readonly Scope[];

/** Options of a key where it differs from its plan. */
function keyOptions(command: Command) {
  const quota = wholeNumber(0, QUOTA_MAX);
  return command
    .option('--rate <N>', 'requests a minute', wholeNumber(1, RATE_MAX))
    .option('--core-limit <N>', 'lookups a calendar month (UTC); 0 is unmetered', quota)
    .option('--geo-limit <N>', 'lookups by address or coordinates a month; 0 is unmetered', quota)
    .option('--merchant-limit <N>', 'merchant operations a month; 0 is unmetered', quota)
    .option(
      '--grant <NAME>',
      `may ask this, repeatable: ${ENTITLEMENT_NAMES.join(', ')}`,
      oneMoreOf(ENTITLEMENT_NAMES),
    )
    .option('--deny <NAME>', 'may not', oneMoreOf(ENTITLEMENT_NAMES))
    .option(
      '--scope <NAME>',
      'may be used for this alone, repeatable: ' +
        `${SCOPE_NAMES.join(', ')}; all of them unless given`,
      oneMoreOf(SCOPE_NAMES),
    )
    .option('--json', 'for programs');
}

/** `situs key`. */
function keyCommands(program: Command): void {
  const key = program
    .command('key')
    .description('create, list, update and disable API keys')
    .addHelpText('after', '\nA running server follows within a second.');
  const plan = (): Option<
    '--plan <PLAN>',
    undefined,
    undefined,
    undefined,
    false,
    (typeof PLANS)[number]
  > => new Option('--plan <PLAN>', 'what it includes').choices(PLANS);
  const which = 'the key, or the beginning of its id';
  keyOptions(key.command('create'))
    .description('make a key; it is shown once')
    .addOption(plan().makeOptionMandatory())
    .option('--account <NAME>', 'the account it is of (default unless given)')
    .action(async (asked) => (await import('./key.js')).createCommand(asked));
  key
    .command('list')
    .description('with what each used in this month')
    .option('--json', 'for programs')
    .action(async (asked) => (await import('./key.js')).listCommand(asked));
  keyOptions(key.command('update'))
    .description('change what a key may do')
    .argument('<KEY>', which)
    .addOption(plan())
    .action(async (text, asked) => (await import('./key.js')).updateCommand(text, asked));
  for (const active of [false, true]) {
    key
      .command(active ? 'enable' : 'disable')
      .description(active ? 'let a disabled key be used again' : 'refuse a key from now on')
      .argument('<KEY>', which)
      .option('--json', 'for programs')
      .action(async (text, asked) => (await import('./key.js')).enableCommand(text, active, asked));
  }
}

/** `situs events`. */
function eventCommands(program: Command): void {
  const events = program
    .command('events')
    .description('list what is to be sent, send again, enable')
    .addHelpText(
      'after',
      '\nEvents go to SITUS_WEBHOOK_URL, invitation mails to SITUS_SMTP_URL. ' +
        'What was sent is\nnot kept. A running server follows within a second.',
    );
  events
    .command('list')
    .description('what is to be sent or was given up')
    .option('--dead', 'what was given up')
    .option('--waiting', 'what is to be sent')
    .option('--all', 'both, as without any of these')
    .option('--json', 'for programs')
    .action(async (asked) => (await import('./history.js')).listCommand(asked));
  events
    .command('replay')
    .description('send again, with all attempts')
    .argument('[ID]', 'one of them')
    .option('--dead', 'all that were given up')
    .action(async (id, asked) => (await import('./history.js')).replayCommand(id, asked));
  events
    .command('enable')
    .description('use an endpoint again that said it was gone')
    .action(async () => (await import('./history.js')).enableCommand());
}

/** `situs audit` and `situs secrets`. */
function historyCommands(program: Command, end: End): void {
  program
    .command('audit')
    .description('who did what to keys, credentials, merchants, nexus, releases and secrets')
    .command('list')
    .description('the oldest first')
    .option('--since <TIME>', 'a day or a moment, 2026-05-31 or 2026-05-31T12:00:00Z')
    .option('--json', 'for programs')
    .action(async (asked) => (await import('./history.js')).auditCommand(asked));
  program
    .command('secrets')
    .description('rotate the key that seals credentials')
    .addHelpText(
      'after',
      '\nAn interrupted rotation is finished by the next one. ' +
        'A running server follows at once.',
    )
    .command('rotate')
    .description('a new key for all that is sealed')
    .option('--status', 'only tell which keys there are and what they wrap')
    .option('--json', 'the status for programs')
    .action(async (asked) => end(await (await import('./secrets.js')).rotateCommand(asked)));
}

/** `situs store`. */
function wholeCommands(program: Command, end: End): void {
  const store = program
    .command('store')
    .description('backup, verify, restore, migrate, copy')
    .addHelpText(
      'after',
      '\nSecrets in a backup open only with the key-encryption key, ' + 'which is not in it.',
    );
  store
    .command('backup')
    .description('a sound copy, also while the server runs')
    .argument('<FILE|DIR>')
    .action(async (path) => end(await (await import('./store-commands.js')).backupCommand(path)));
  store
    .command('verify')
    .description('read a backup from end to end')
    .argument('<FILE>')
    .addOption(inThisProcess())
    .action(async (path, asked) =>
      end(await (await import('./store-commands.js')).verifyCommand(path, asked)),
    );
  store
    .command('restore')
    .description('put a backup in place; the server must be stopped')
    .argument('<FILE>')
    .option('--force', 'replace a store that holds records, and keep it as data.mdb.replaced')
    .action(async (path, asked) =>
      (await import('./store-commands.js')).restoreCommand(path, asked),
    );
  store
    .command('migrate')
    .description('make or renew the tables of the database in SITUS_STORE')
    .action(async () => (await import('./store-commands.js')).migrateCommand());
  store
    .command('copy')
    .description('a whole store to where none is, read again and compared')
    .addHelpText(
      'after',
      '\nFROM and TO are folders, as SITUS_VAR names one, or addresses as in ' +
        'SITUS_STORE. A password\nneed not stand in one: PGPASSWORD and ~/.pgpass are read.',
    )
    .argument('<FROM>')
    .argument('<TO>')
    .action(async (from, to) => (await import('./store-commands.js')).copyCommand(from, to));
}

/** Declares all of them below `situs`. */
export function storeCommands(program: Command, end: End): void {
  keyCommands(program);
  eventCommands(program);
  historyCommands(program, end);
  wholeCommands(program, end);
}
