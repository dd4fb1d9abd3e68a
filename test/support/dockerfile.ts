/** A Dockerfile as stages of steps. */
import { readFileSync } from 'node:fs';
import { DockerfileParser } from 'dockerfile-ast';

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
    const text = lines.slice(start.line, end.line + 1).join('\n').slice(keyword.length)
      .replaceAll(/\\\n/g, ' ').replaceAll(/\s+/g, ' ').trim();
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
  return Object.fromEntries(stage.steps.filter(({ keyword }) => keyword === 'ENV')
    .flatMap(({ words }) => words.map((word) => word.split('=') as [string, string])));
}
