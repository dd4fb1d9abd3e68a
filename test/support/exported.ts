/** What files export, and which other files import it by name. */
import { join } from 'node:path/posix';

const DECLARED =
  /^export (?:async )?(?:abstract )?(?:const|let|function\*?|class|interface|type) (\w+)/gm;
const PASSED_ON = /^export (?:type )?\{([^}]*)\}/gm;
const NAMED = /^\s*(?:import|export)\s(?:type\s)?\{([^}]*)\}\s*from\s*'(\.[^']+)\.js'/gm;
/** Of all that a file exports, by a name for it or when it is come to. */
const WHOLE = /\*(?: as \w+)? from '(\.[^']+)\.js'|\bimport\(\s*'(\.[^']+)\.js',?\s*\)/g;

/** An export with the files that import it. */
interface Exported {
  readonly path: string;
  readonly name: string;
  readonly importers: readonly string[];
  /** Whether the file itself names it beside its export. */
  readonly isUsedWithin: boolean;
}

/** The names in the braces of an import or an export: of "a as b" the first, or the last. */
function namesIn(braces: string, at: 0 | -1): readonly string[] {
  return braces
    .split(',')
    .map((part) => part.trim().replace(/^type /, ''))
    .filter((part) => part !== '')
    .map((part) => part.split(' as ').at(at) ?? '');
}

function namesExportedBy(text: string): readonly string[] {
  return [
    ...[...text.matchAll(DECLARED)].map(([, name = '']) => name),
    ...[...text.matchAll(PASSED_ON)].flatMap(([, braces = '']) => namesIn(braces, -1)),
  ];
}

/** Every export of files, given their texts by their paths. */
export function exportsOf(files: ReadonlyMap<string, string>): readonly Exported[] {
  const importers = new Map<string, Set<string>>();
  const wholly = new Map<string, Set<string>>();
  const note = (under: Map<string, Set<string>>, key: string, path: string): void => {
    under.set(key, (under.get(key) ?? new Set()).add(path));
  };
  const bare = new Map(
    [...files].map(([path, text]) => [path, text.replaceAll(/\/\*[\s\S]*?\*\//g, '')] as const),
  );
  for (const [path, text] of bare) {
    const target = (from: string): string => `${join(path, '..', from)}.ts`;
    for (const [, braces = '', from = ''] of text.matchAll(NAMED)) {
      for (const name of namesIn(braces, 0)) note(importers, `${target(from)} ${name}`, path);
    }
    for (const [, all, later] of text.matchAll(WHOLE)) {
      note(wholly, target(all ?? later ?? ''), path);
    }
  }
  return [...bare].flatMap(([path, text]) =>
    namesExportedBy(text).map((name): Exported => {
      const word = new RegExp(`\\b${name}\\b`, 'g');
      const others = [...(wholly.get(path) ?? [])].filter(
        (file) => bare.get(file)?.match(word) != null,
      );
      return {
        path,
        name,
        importers: [...(importers.get(`${path} ${name}`) ?? []), ...others],
        isUsedWithin: (text.match(word)?.length ?? 0) > 1,
      };
    }),
  );
}
