/** Bodies that a schema of the OpenAPI document allows, and hostile ones beside them, as JSON text. */

export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [name: string]: Json };

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Json>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Json>> };
}

/** An operation that takes a body. */
export interface BodyOperation {
  readonly path: string;
  /** A body of the documented shape; undefined where that is not JSON. */
  readonly sample: Json | undefined;
  readonly type: string;
}

type Members = { readonly [name: string]: Json };

function isMembers(value: Json | undefined): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function membersOf(value: Json | undefined): Members {
  return isMembers(value) ? value : {};
}

const TEXTS: Readonly<Record<string, string>> = {
  uuid: '00000000-0000-4000-8000-000000000000',
  'date-time': '2026-01-02T03:04:05Z',
  date: '2026-01-02',
  email: 'someone@example.com',
};

function textOf({ format, minLength }: Members): string {
  const known = typeof format === 'string' ? TEXTS[format] : undefined;
  return known ?? 'x'.repeat(Math.max(2, Number(minLength ?? 0)));
}

/** One value of a schema; `named` gives values of members by their names. */
function sampleOf(schema: Members, all: Members, named: Members): Json {
  const { $ref, anyOf, oneOf, enum: values, type, items, properties } = schema;
  if (typeof $ref === 'string') {
    return sampleOf(membersOf(all[$ref.split('/').at(-1) ?? '']), all, named);
  }
  const choices = anyOf ?? oneOf;
  if (properties === undefined && Array.isArray(choices)) {
    return sampleOf(membersOf((choices as readonly Json[])[0]), all, named);
  }
  if (Array.isArray(values)) return (values as readonly Json[])[0] ?? null;
  const kind = Array.isArray(type) ? (type as readonly Json[])[0] : type;
  switch (kind) {
    case 'string':
      return textOf(schema);
    case 'integer':
    case 'number':
      return Number(schema['minimum'] ?? 1);
    case 'boolean':
      return false;
    case 'array':
      return [sampleOf(membersOf(items), all, named)];
    default:
      return Object.fromEntries(
        Object.entries(membersOf(properties)).map(([name, member]) => [
          name,
          named[name] ?? sampleOf(membersOf(member), all, named),
        ]),
      );
  }
}

/** The operations of a document that take a body, with one of the documented shape. */
export function bodyOperations(document: Document, named: Members = {}): readonly BodyOperation[] {
  const found: BodyOperation[] = [];
  for (const [path, methods] of Object.entries(document.paths)) {
    const { requestBody } = membersOf(methods['post']);
    if (!isMembers(requestBody)) continue;
    const content = Object.entries(membersOf(requestBody['content']));
    for (const [type, { schema }] of content.map(
      ([name, each]) => [name, membersOf(each)] as const,
    )) {
      const isJson = type === 'application/json';
      const all = document.components.schemas;
      const sample = isJson ? sampleOf(membersOf(schema), all, named) : undefined;
      found.push({ path, type, sample });
    }
  }
  return found;
}

/** JSON texts of values that no shape expects. */
export const HOSTILE_VALUES: readonly string[] = [
  'null',
  'true',
  '0',
  '-0',
  '-1',
  '1e309',
  '-1e309',
  '1e-400',
  '123456789012345678901234567890',
  '0.1234567890123456789',
  '""',
  '" "',
  '"\\u0000"',
  '"\\ud800"',
  '"\\udfff\\ud800"',
  '"."',
  '".."',
  '"../.."',
  '"__proto__"',
  '"constructor"',
  '"toString"',
  '"\\u202e"',
  '"' + 'x'.repeat(3000) + '"',
  '"' + '\\ud83d\\ude00'.repeat(300) + '"',
  '[]',
  '{}',
  '[[]]',
  '[{}]',
  '[null]',
  '[{"toString":1}]',
  '{"toString":1}',
  '{"toString":null,"valueOf":null}',
  '{"__proto__":{"toString":1}}',
  '{"constructor":{"prototype":1}}',
  '{"then":1}',
  '{"length":-1}',
  '{"":""}',
  '{"toJSON":1}',
  '[[[[{"toString":[{"toString":1}]}]]]]',
  '['.repeat(40) + ']'.repeat(40),
  '['.repeat(200) + ']'.repeat(200),
  `[${'{},'.repeat(500)}{}]`,
  `[${'null,'.repeat(500)}0]`,
];

/** Names of members that no shape expects. */
export const HOSTILE_NAMES: readonly string[] = [
  '__proto__',
  'toString',
  'constructor',
  'hasOwnProperty',
  'valueOf',
  'toJSON',
  'then',
  'length',
  '',
  '\ud800',
  ', ',
  '{field}',
  '$&',
  'x'.repeat(500),
];

/** What is done to one place of a body. */
export interface Mutation {
  /** Counts the places of the body in order of its text. */
  readonly at: number;
  readonly kind: 'replace' | 'add' | 'repeat' | 'drop';
  readonly value: string;
  readonly name: string;
}

/** How many places a body has. */
export function placesOf(value: Json): number {
  if (Array.isArray(value))
    return (value as readonly Json[]).reduce<number>((sum, each) => sum + placesOf(each), 1);
  if (!isMembers(value)) return 1;
  return Object.values(value).reduce<number>((sum, each) => sum + placesOf(each), 1);
}

/** The text of a body with mutations; `JSON.stringify` where there are none. */
export function mutated(body: Json, mutations: readonly Mutation[]): string {
  let place = 0;
  const print = (value: Json, name: string | null): string => {
    const mine = mutations.filter(({ at }) => at === place);
    place += 1;
    let text: string;
    if (Array.isArray(value)) {
      text = `[${(value as readonly Json[]).map((each) => print(each, null)).join(',')}]`;
    } else if (isMembers(value)) {
      const members = Object.entries(value).map(([key, each]) => print(each, key));
      for (const { kind, name: added, value: hostile } of mine) {
        if (kind === 'add') members.push(`${JSON.stringify(added)}:${hostile}`);
      }
      text = `{${members.filter((each) => each !== '').join(',')}}`;
    } else text = JSON.stringify(value);
    const prefix = name === null ? '' : `${JSON.stringify(name)}:`;
    for (const { kind, value: hostile } of mine) {
      if (kind === 'replace') text = hostile;
      if (kind === 'drop' && name !== null) return '';
      if (kind === 'repeat' && name !== null) return `${prefix}${text},${prefix}${hostile}`;
    }
    return prefix + text;
  };
  return print(body, null);
}
