/** The commands of `situs key`: their words, options and help. */
import { type Command, Option } from '@commander-js/extra-typings';
import { ENTITLEMENTS, PLANS, type Entitlement } from '../store/plan.js';
import { SCOPES, type Scope } from '../store/scope.js';
import { oneMoreOf, wholeNumber } from './command-line.js';

/** Largest rate and quota of a key, small enough to be counted exactly. */
const RATE_MAX = 999_999_999;
const QUOTA_MAX = 999_999_999_999;

const ENTITLEMENT_NAMES = Object.keys(ENTITLEMENTS) as readonly Entitlement[];
const SCOPE_NAMES = Object.keys(SCOPES) as readonly Scope[];

/** What a key may do and how often, against its plan's own. */
function keyOptions(command: Command) {
  const quota = wholeNumber(0, QUOTA_MAX);
  return command.option('--rate <N>', 'requests a minute', wholeNumber(1, RATE_MAX))
    .option('--core-limit <N>', 'lookups a calendar month (UTC); 0 is unmetered', quota)
    .option('--geo-limit <N>',
      'lookups by address or coordinates a month; 0 is unmetered', quota)
    .option('--merchant-limit <N>', 'merchant operations a month; 0 is unmetered', quota)
    .option('--grant <NAME>', `may ask this, repeatable: ${ENTITLEMENT_NAMES.join(', ')}`,
      oneMoreOf(ENTITLEMENT_NAMES))
    .option('--deny <NAME>', 'may not', oneMoreOf(ENTITLEMENT_NAMES))
    .option('--scope <NAME>', 'may be used for this alone, repeatable: '
      + `${SCOPE_NAMES.join(', ')}; all of them unless given`, oneMoreOf(SCOPE_NAMES))
    .option('--json', 'for programs');
}

/** Declares them below `situs`. */
export function keyCommands(program: Command): void {
  const key = program.command('key').description('create, list, update and disable API keys')
    .addHelpText('after', '\nA running server follows within a second.');
  const plan = (): Option<'--plan <PLAN>', undefined, undefined, undefined, false,
    typeof PLANS[number]> => new Option('--plan <PLAN>', 'what it includes').choices(PLANS);
  const which = 'the key, or the beginning of its id';
  keyOptions(key.command('create')).description('make a key; it is shown once')
    .addOption(plan().makeOptionMandatory())
    .option('--account <NAME>', 'the account it is of (default unless given)')
    .action(async (asked) => (await import('./key.js')).createCommand(asked));
  key.command('list').description('with what each used in this month')
    .option('--json', 'for programs')
    .action(async (asked) => (await import('./key.js')).listCommand(asked));
  keyOptions(key.command('update')).description('change what a key may do')
    .argument('<KEY>', which)
    .addOption(plan())
    .action(async (text, asked) => (await import('./key.js')).updateCommand(text, asked));
  for (const active of [false, true]) {
    key.command(active ? 'enable' : 'disable')
      .description(active ? 'let a disabled key be used again' : 'refuse a key from now on')
      .argument('<KEY>', which)
      .option('--json', 'for programs')
      .action(async (text, asked) =>
        (await import('./key.js')).enableCommand(text, active, asked));
  }
}
