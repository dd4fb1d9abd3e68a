/**
 * What Kubernetes has to say of a manifest before it is applied: by the schemas of its API, as an npm
 * package has them compiled. They take members that they do not know, so names are looked up too.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../src/ingest/source-files.js';

const FOLDER = join(packageRoot(), 'node_modules', 'kubernetes-models', '_schemas');
const BESIDE = /from"\.\/(\w+)\.js"/g;
/** Members whose own members are named by whoever writes them. */
const FREE = new Set(['labels', 'matchLabels', 'annotations', 'data', 'selector', 'requests', 'limits']);

export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly [member: string]: unknown;
}

interface Validator {
  (value: unknown): boolean;
  readonly errors: readonly { readonly instancePath: string; readonly message?: string; readonly keyword: string }[] | null;
}

/** "policy/v1" and "PodDisruptionBudget" to the name of its schema. */
function schemaOf({ apiVersion, kind }: Manifest): string {
  const [group, version] = apiVersion.includes('/') ? apiVersion.split('/') : ['core', apiVersion];
  const word = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
  return `IoK8sApi${word(group!.split('.')[0]!)}${word(version!)}${kind}`;
}

/** The code of a schema and of all that it is made of. */
function textsOf(schema: string): string {
  const names = new Set([schema]);
  const texts: string[] = [];
  for (const name of names) {
    const text = readFileSync(join(FOLDER, `${name}.js`), 'utf8');
    texts.push(text);
    for (const [, beside] of text.matchAll(BESIDE)) names.add(beside!);
  }
  return texts.join('\n');
}

/** Names of members, but for those that are free. */
function membersOf(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(membersOf);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) =>
    [name, ...(FREE.has(name) && !('matchLabels' in Object(inner)) ? [] : membersOf(inner))]);
}

/** Everything that is wrong with a manifest; nothing where it would be taken. */
export async function manifestProblems(manifest: Manifest): Promise<readonly string[]> {
  const schema = schemaOf(manifest);
  const { validate } = await import(`kubernetes-models/_schemas/${schema}`) as
    { readonly validate: Validator };
  const problems = validate(manifest) ? [] : (validate.errors ?? [])
    .map(({ instancePath, keyword, message = keyword }) => `${instancePath} ${message}`);
  // Of the object's own metadata the schema is in another package.
  const known = `${textsOf(schema)} name namespace labels annotations matchLabels matchExpressions metadata`;
  const strange = membersOf(manifest).filter((name) => !new RegExp(`\\b${name}\\b`).test(known));
  return [...problems, ...strange.map((name) => `no member "${name}"`)];
}
