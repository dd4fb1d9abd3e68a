/** How long functions are, as the compiler reads them. */
import { API } from 'typescript/unstable/sync';
import type { Node, SourceFile } from 'typescript/unstable/ast';
import { isFunctionLikeDeclaration } from 'typescript/unstable/ast/is';

export const FUNCTION_LINES_MAX = 60;

/** A function with more lines than it may have. */
interface LongFunction {
  /** As the compiler names the file. */
  readonly file: string;
  /** Of the function's first line, counted from 1. */
  readonly line: number;
  /** From its name or first parameter to its last brace, without the comment above it. */
  readonly lines: number;
  /** "" where it has none. */
  readonly name: string;
}

function nameOf(node: Node, source: SourceFile): string {
  if ('name' in node && node.name !== undefined) return (node.name as Node).getText(source);
  const { parent } = node;
  const named = 'name' in parent && parent.name !== undefined ? (parent.name as Node) : null;
  return named?.getText(source) ?? '';
}

/** The functions of one file that are too long, outer ones before those within them. */
function longOf(source: SourceFile, linesMax: number): readonly LongFunction[] {
  const found: LongFunction[] = [];
  const visit = (node: Node): void => {
    if (isFunctionLikeDeclaration(node)) {
      const first = source.getLineAndCharacterOfPosition(node.getStart(source)).line;
      const last = source.getLineAndCharacterOfPosition(node.getEnd()).line;
      const lines = last - first + 1;
      if (lines > linesMax) {
        found.push({ file: source.fileName, line: first + 1, lines, name: nameOf(node, source) });
      }
    }
    node.forEachChild(visit);
  };
  source.forEachChild(visit);
  return found;
}

/**
 * Functions of a project's own files that are longer than they may be.
 * `config` is the path of its tsconfig.json; `files`, if given, stand for the file system.
 */
export function longFunctions(
  config: string,
  linesMax = FUNCTION_LINES_MAX,
  files: Readonly<Record<string, string>> = {},
): readonly LongFunction[] {
  const api = new API({
    fs: {
      readFile: (path) => files[path],
      fileExists: (path) => (Object.hasOwn(files, path) ? true : undefined),
    },
  });
  try {
    const [project] = api.updateSnapshot({ openProjects: [config] }).getProjects();
    if (project === undefined) throw new Error(`${config} is no project`);
    return project.rootFiles.flatMap((path) => {
      const source = project.program.getSourceFile(path);
      if (source === undefined) throw new Error(`${path} was not read`);
      return longOf(source, linesMax);
    });
  } finally {
    api.close();
  }
}
