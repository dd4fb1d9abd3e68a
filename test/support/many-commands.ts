/**
 * Runs command lines, a JSON list of words each from standard input, one after the other in this
 * process, and writes what each wrote and how it ended: a start for each takes ten times as long.
 */
import { readFileSync } from 'node:fs';
import { runCommand } from '../../src/cli/program.js';
import { tellFailure } from '../../src/cli/command-line.js';
import type { Ran } from './run-command.js';

const STANDARD_INPUT = 0;

type Output = NodeJS.WriteStream['write'];

async function ran(words: readonly string[]): Promise<Ran> {
  const [out, err]: readonly string[][] = [[], []];
  const into =
    (pieces: string[]): Output =>
    (piece: string) => {
      pieces.push(piece);
      return true;
    };
  const { stdout, stderr } = process;
  const before = [stdout.write, stderr.write] as const;
  [stdout.write, stderr.write] = [into(out!), into(err!)];
  try {
    const code = await runCommand(words).catch(tellFailure);
    return { code, out: out!.join(''), err: err!.join('') };
  } finally {
    [stdout.write, stderr.write] = before;
  }
}

const all: Ran[] = [];
for (const words of JSON.parse(readFileSync(STANDARD_INPUT, 'utf8')) as readonly string[][]) {
  all.push(await ran(words));
}
process.stdout.write(JSON.stringify(all));
