/** Commands of a page with what they print there, run one after the other in one shell. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const FENCE = /```console\n([\s\S]*?)```/g;
const PROMPT = '$ ';
/** Printed before each command: no text of ours has it. */
const MARK = '\u001e';
/** A page takes a few seconds; one whose commands wait for what never comes is ended. */
const PAGE_MS_MAX = 600_000;

interface PageCommand {
  readonly command: string;
  readonly output: string;
}

/** The line that ends a here-document which a command begins; null where it begins none. */
function endOfInput(line: string): string | null {
  return /<< '(\w+)'/.exec(line)?.[1] ?? null;
}

/** The commands of a block: each begins with a prompt and goes on as a shell would read it. */
function commandsOf(block: string): readonly PageCommand[] {
  const lines = block.split('\n');
  const found: PageCommand[] = [];
  for (let at = 0; at < lines.length; ) {
    const first = lines[at] ?? '';
    if (!first.startsWith(PROMPT)) {
      at += 1;
      continue;
    }
    const command = [first.slice(PROMPT.length)];
    at += 1;
    const until = endOfInput(first);
    while (until === null ? /[\\|]$/.test(command.at(-1)!) : command.at(-1) !== until) {
      if (at >= lines.length) throw new Error(`a command without end: ${first}`);
      command.push(lines[at++]!);
    }
    const output: string[] = [];
    while (at < lines.length && !lines[at]!.startsWith(PROMPT)) output.push(lines[at++]!);
    found.push({ command: command.join('\n'), output: output.join('\n').trimEnd() });
  }
  return found;
}

/** All commands of a page, in order. */
export function pageCommands(page: string): readonly PageCommand[] {
  return [...page.matchAll(FENCE)].flatMap((found) => commandsOf(found[1]!));
}

/** The page with other output below its commands, in their order. */
export function withOutputs(page: string, outputs: readonly string[]): string {
  const left = [...outputs];
  return page.replace(FENCE, (_, block: string) => {
    const text = commandsOf(block).map(({ command }) => {
      const output = left.shift() ?? '';
      return `${PROMPT}${command}\n${output === '' ? '' : `${output}\n`}`;
    });
    return `\`\`\`console\n${text.join('')}\`\`\``;
  });
}

/** Ids, names of releases, digests and times, which are others each time, as a page shows them. */
export function withoutVolatile(text: string): string {
  return text
    .replaceAll(/\b(bulk|job|stream|resume)_[0-9a-f]{16,}/g, '$1_…')
    .replaceAll(/\d{4}-\d\d-\d\d-[0-9a-f]{12}/g, '2026-…')
    .replaceAll(/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, '…')
    .replaceAll(/\b[0-9a-f]{64}\b/g, '…')
    .replaceAll(/"\d{4}-\d\d-\d\dT[\d:.]+Z"/g, '"2026-…"')
    .replaceAll(/("resume":")[\w-]{16,}"/g, '$1…"');
}

interface PageShell {
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** Lines before the first command, such as functions. */
  readonly before: string;
}

/** What each command printed on both of its outputs. */
export async function runPage(
  commands: readonly PageCommand[],
  { env, cwd, before }: PageShell,
): Promise<readonly string[]> {
  const script = commands.map(({ command }) => `printf '${MARK}'\n${command}\n`).join('');
  const { stdout } = await promisify(execFile)(
    'bash',
    ['--norc', '-c', `exec 2>&1\n${before}\n${script}exit 0`],
    { cwd, env, timeout: PAGE_MS_MAX },
  );
  return stdout
    .split(MARK)
    .slice(1)
    .map((text) => text.trimEnd());
}
