/** Tables of the documentation that are made from the program. */
import assert from 'node:assert/strict';
import { parameterNames } from '../../src/api/lookup/parameter-table.js';
import type { Schema } from '../../src/base/json-schema.js';
import { SETTINGS } from '../../src/config.js';
import type { Setting } from '../../src/setting.js';
import { lookupParameters } from '../../src/describe/lookup-parameters.js';
import { OPERATIONS } from '../../src/describe/operations.js';
import { ENTITLEMENTS, PLAN_FEATURES, PLANS } from '../../src/store/plan.js';
import { API_VERSIONS } from '../../src/wire/tree.js';

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
  return table(
    ['Name', 'Type', 'Default', 'Meaning'],
    SETTINGS.map((setting: Setting) => [
      `\`${setting.name}\``,
      range(setting),
      setting.default === '' ? '' : `\`${setting.default}\``,
      setting.meaning,
    ]),
  );
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

export function operationsTable(): string {
  const rows = [...OPERATIONS].map(
    ([name, { keyed, summary }]) => `| \`${name}\` | ${keyed ? 'yes' : 'no'} | ${summary} |`,
  );
  return ['| Operation | Key | What |', '|---|---|---|', ...rows].join('\n');
}

function sinceOf(name: string): string {
  const since = API_VERSIONS.find((version) =>
    (parameterNames(version) as readonly string[]).includes(name),
  );
  return since === undefined || since === 60 ? '' : `v${since}`;
}

function valuesOf(schema: Schema): string {
  const { enum: values, pattern, minimum, maximum, maxLength, minLength } = schema;
  if (Array.isArray(values)) return values.join(', ');
  if (typeof pattern === 'string') return `\`${pattern.replaceAll('|', '\\|')}\``;
  if (schema['type'] === 'boolean') return 'true, false';
  if (schema['type'] === 'number') {
    return `number, ${String(minimum)} ${maximum === undefined ? 'or more' : `to ${String(maximum)}`}`;
  }
  if (schema['format'] === 'date-time') return 'RFC 3339 date and time';
  assert.equal(typeof maxLength, 'number', 'the table has words for the schema');
  const least = minLength === undefined ? 'up to' : `${String(minLength)} to`;
  return `${least} ${String(maxLength)} characters`;
}

export function parametersTable(): string {
  const rows = lookupParameters(60).map(({ name, schema, description }) => {
    const given = schema['default'];
    const fallback = given === undefined ? '' : String(given);
    const since = name === 'key' ? 'v10' : sinceOf(name);
    return `| \`${name}\` | ${since} | ${valuesOf(schema)} | ${fallback} | ${description} |`;
  });
  return ['| Name | Since | Values | Default | Meaning |', '|---|---|---|---|---|', ...rows].join(
    '\n',
  );
}

/** A row of the table of response codes. */
export interface CodeRow {
  readonly code: number;
  readonly name: string;
  /** Statuses; the first is the usual one. */
  readonly http: readonly number[];
  /** Null for no key. */
  readonly plan: string | null;
  readonly when: string;
  readonly path: string;
}

/** The rows between the marks "codes". */
export function codeRows(text: string): readonly CodeRow[] {
  const table = /<!-- codes -->\n([\s\S]*?)\n<!-- \/codes -->/.exec(text)?.[1] ?? '';
  return table
    .split('\n')
    .slice(2)
    .map((line) => {
      const [, code = '', name = '', http = '', request = '', circumstances = ''] = line
        .split('|')
        .map((cell) => cell.trim());
      const query = /`(\?[^`]+)`$/.exec(request)?.[1];
      if (query === undefined) throw new Error(`no request in: ${line}`);
      const [plan = '', ...when] = circumstances.split(', ');
      return {
        code: Number(code),
        name,
        http: http.split(', ').map(Number),
        plan: plan === 'no key' ? null : plan,
        when: when.join(', '),
        path: `/request/v60${query}`,
      };
    });
}

/** The operations that a page lists in its table. */
export function operationsOf(text: string): readonly string[] {
  return [...text.matchAll(/^\| `((?:GET|POST|DELETE) \/[^`]+)` \|/gm)].map(
    ([, name = '']) => name,
  );
}
