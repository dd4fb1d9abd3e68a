/** What processes of tests took: kept for the order of the next run, and told at the end of this one. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Milliseconds that a process of tests took. */
interface Took {
  /** Of processors, by it and all that it started and waited for. */
  readonly processorMs: number;
  /** From its start to its end. */
  readonly clockMs: number;
}

/** By what ran: a file, or several in one process. */
export type Times = ReadonlyMap<string, Took>;

/** A file that takes more is named as a warning; CONTRIBUTING.md says what can be done. */
export const FILE_PROCESSOR_MS_MAX = 15_000;
const DEAREST = 25;
const PATH = join('node_modules', '.cache', 'situs-test-times.json');

/** What was kept of the last run below this root; empty where there was none. */
export function keptTimes(root: string): Times {
  try {
    return new Map(JSON.parse(readFileSync(join(root, PATH), 'utf8')) as [string, Took][]);
  } catch {
    return new Map();
  }
}

/** Keeps what these took beside what is known of others. */
export function keepTimes(root: string, times: Times): void {
  if (!existsSync(join(root, 'node_modules'))) return;
  const all = new Map([...keptTimes(root), ...times]);
  mkdirSync(dirname(join(root, PATH)), { recursive: true });
  writeFileSync(join(root, PATH), JSON.stringify([...all]));
}

/** Reads the lines of report-time.js; `nameOf` says what the processes of a path are called. */
export function readTimes(path: string, nameOf: (file: string) => string): Times {
  const times = new Map<string, Took>();
  const lines = existsSync(path) ? readFileSync(path, 'utf8').trimEnd().split('\n') : [];
  for (const line of lines.filter((each) => each !== '')) {
    const [processor = '', clock = '', file = ''] = line.split('\t');
    times.set(nameOf(file), { processorMs: Number(processor), clockMs: Number(clock) });
  }
  return times;
}

function seconds(milliseconds: number): string {
  return (milliseconds / 1_000).toFixed(1);
}

/** Lines that tell what took most, and which files took more than they may. */
export function timesReport(times: Times, clockMs: number): string {
  const sorted = [...times].sort(([, a], [, b]) => b.processorMs - a.processorMs);
  const sum = sorted.reduce((all, [, { processorMs }]) => all + processorMs, 0);
  const dear = sorted.filter(
    ([name, { processorMs }]) => processorMs > FILE_PROCESSOR_MS_MAX && name.endsWith('.test.js'),
  );
  return [
    `# ${seconds(sum)} s of processor time in ${times.size} processes of tests, ${seconds(
      clockMs,
    )} s by the clock; most of it:`,
    ...sorted
      .slice(0, DEAREST)
      .map(
        ([name, { processorMs, clockMs: clock }]) =>
          `# ${seconds(processorMs).padStart(8)} s, ${seconds(clock).padStart(6)} s by the clock: ${name}`,
      ),
    ...dear.map(
      ([name, { processorMs }]) =>
        `# warning: ${name} took ${seconds(
          processorMs,
        )} s of processor time, more than ${seconds(FILE_PROCESSOR_MS_MAX)} s (CONTRIBUTING.md)`,
    ),
    '',
  ].join('\n');
}
