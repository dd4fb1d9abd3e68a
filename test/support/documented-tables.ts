/** Tables of the documentation that are made from the program. */
import { SETTINGS, type Setting } from '../../src/config.js';
import { ENTITLEMENTS, PLAN_FEATURES, PLANS } from '../../src/store/plan.js';

/** A vertical bar would end the cell. */
function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}

function row(cells: readonly string[]): string {
  return `| ${cells.map(cell).join(' | ')} |`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [row(head), `|${head.map(() => '---|').join('')}`, ...rows.map(row)].join('\n');
}

function range({ type, min, max }: Setting): string {
  return min === undefined || max === undefined ? type : `${type}, ${min} to ${max}`;
}

export function settingsTable(): string {
  return table(['Name', 'Type', 'Default', 'Meaning'], SETTINGS.map((setting: Setting) => [
    `\`${setting.name}\``, range(setting), setting.default === '' ? '' : `\`${setting.default}\``,
    setting.meaning,
  ]));
}

export function plansTable(): string {
  const yes = (is: boolean): string => (is ? 'yes' : 'no');
  const names = Object.keys(ENTITLEMENTS);
  return table(
    ['Plan', 'Requests a minute', ...names, 'merchants', 'provider'],
    PLANS.map((plan) => {
      const { rate, grants, merchants, provider } = PLAN_FEATURES[plan];
      const bits = Object.values(ENTITLEMENTS).map((bit) => yes((grants & bit) !== 0));
      return [plan, rate.toLocaleString('en'), ...bits, yes(merchants), yes(provider)];
    }),
  );
}

/** The text with the table between the two marks of a name. */
export function withTable(text: string, name: string, content: string): string {
  const [open, close] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
  const [from, to] = [text.indexOf(open), text.indexOf(close)];
  if (from < 0 || to < from) throw new Error(`no marks of a table "${name}"`);
  return `${text.slice(0, from + open.length)}\n${content}\n${text.slice(to)}`;
}
