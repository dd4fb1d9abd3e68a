/**
 * How long test processes took: kept for the order of the next run, and reported at the end of this
 * one.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** How many milliseconds a test process took. */
interface Took {
  /** Processor time of the process, and of all processes that it started and waited for. */
  readonly processorMs: number;
  /** Time from its start to its end. */
  readonly clockMs: number;
}

/** The times for each process, by the name of its file, or of its group of files. */
export type Times = ReadonlyMap<string, Took>;

/** A file that takes more gets a warning; CONTRIBUTING.md says what can be done. */
export const FILE_PROCESSOR_MS_MAX = 15_000;
const DEAREST = 25;
const PATH = join('node_modules', '.cache', 'situs-test-times.json');

/** The times of earlier runs below this root; empty where there are none. */
export function keptTimes(root: string): Times {
  try {
    return new Map(JSON.parse(readFileSync(join(root, PATH), 'utf8')) as [string, Took][]);
  } catch {
    return new Map();
  }
}

/** Keeps these times, beside those of other files. */
export function keepTimes(root: string, times: Times): void {
  if (!existsSync(join(root, 'node_modules'))) return;
  const all = new Map([...keptTimes(root), ...times]);
  mkdirSync(dirname(join(root, PATH)), { recursive: true });
  writeFileSync(join(root, PATH), JSON.stringify([...all]));
}

/** Parses the lines of report-time.js; `nameOf` returns the name of the process that ran a path. */
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

/** Lines that tell which processes took most, and which files took more than allowed. */
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
