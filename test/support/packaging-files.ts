/** What packages are made by, read and checked: a Dockerfile, manifests for Kubernetes. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DockerfileParser } from 'dockerfile-ast';
import { packageRoot } from '../../src/ingest/source-files.js';

/*
 * A Dockerfile as stages of steps.
 */

export interface Step {
  readonly keyword: string;
  /** All that follows the word, on one line, with flags. */
  readonly text: string;
  /** The words behind flags. */
  readonly words: readonly string[];
  /** The stage that COPY takes files from; null for the folder that is built. */
  readonly from: string | null;
}

export interface Stage {
  /** "NAME:TAG". */
  readonly image: string;
  readonly name: string | null;
  readonly steps: readonly Step[];
}

/** Reads the Dockerfile at `path`. */
export function readStages(path: string): readonly Stage[] {
  const stages: { image: string; name: string | null; steps: Step[] }[] = [];
  const source = readFileSync(path, 'utf8');
  const lines = source.split('\n');
  for (const instruction of DockerfileParser.parse(source).getInstructions()) {
    const keyword = instruction.getKeyword();
    // The parser's own arguments leave flags out.
    const { start, end } = instruction.getRange();
    const text = lines
      .slice(start.line, end.line + 1)
      .join('\n')
      .slice(keyword.length)
      .replaceAll(/\\\n/g, ' ')
      .replaceAll(/\s+/g, ' ')
      .trim();
    const all = text.split(' ');
    if (keyword === 'FROM') {
      stages.push({ image: all[0]!, name: all[1] === 'AS' ? all[2]! : null, steps: [] });
      continue;
    }
    const from = /^--from=(\S+)/.exec(text)?.[1] ?? null;
    const words = all.filter((word) => !word.startsWith('--') || keyword === 'RUN');
    stages.at(-1)!.steps.push({ keyword, text, words, from });
  }
  return stages;
}

/** The words of an instruction in its exec form, as `CMD ["node"]`, or null in its shell form. */
export function execWords(text: string): readonly string[] | null {
  const begin = text.indexOf('[');
  if (begin < 0) return null;
  try {
    return JSON.parse(text.slice(begin)) as string[];
  } catch {
    return null;
  }
}

/** The variables that ENV of a stage sets; values are without spaces. */
export function environmentOf(stage: Stage): Readonly<Record<string, string>> {
  return Object.fromEntries(
    stage.steps
      .filter(({ keyword }) => keyword === 'ENV')
      .flatMap(({ words }) => words.map((word) => word.split('=') as [string, string])),
  );
}

/*
 * What Kubernetes has to say of a manifest before it is applied: by the schemas of its API, as an
 * npm package has them compiled. They take members that they do not know, so names are looked up
 * too.
 */

const FOLDER = join(packageRoot(), 'node_modules', 'kubernetes-models', '_schemas');
const BESIDE = /from"\.\/(\w+)\.js"/g;
/** Members whose own members are named by whoever writes them. */
const FREE = new Set([
  'labels',
  'matchLabels',
  'annotations',
  'data',
  'selector',
  'requests',
  'limits',
]);

export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly [member: string]: unknown;
}

interface Validator {
  (value: unknown): boolean;
  readonly errors:
    | readonly {
        readonly instancePath: string;
        readonly message?: string;
        readonly keyword: string;
      }[]
    | null;
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
  return Object.entries(value).flatMap(([name, inner]) => [
    name,
    ...(FREE.has(name) && !('matchLabels' in Object(inner)) ? [] : membersOf(inner)),
  ]);
}

/** Everything that is wrong with a manifest; nothing where it would be taken. */
export async function manifestProblems(manifest: Manifest): Promise<readonly string[]> {
  const schema = schemaOf(manifest);
  const { validate } = (await import(`kubernetes-models/_schemas/${schema}`)) as {
    readonly validate: Validator;
  };
  const problems = validate(manifest)
    ? []
    : (validate.errors ?? []).map(
        ({ instancePath, keyword, message = keyword }) => `${instancePath} ${message}`,
      );
  // Of the object's own metadata the schema is in another package.
  const known = `${textsOf(schema)} name namespace labels annotations matchLabels matchExpressions metadata`;
  const strange = membersOf(manifest).filter((name) => !new RegExp(`\\b${name}\\b`).test(known));
  return [...problems, ...strange.map((name) => `no member "${name}"`)];
}
