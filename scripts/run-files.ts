/**
 * A process that runs test files like node --test, but in the given order, so that long ones begin
 * first; node --test would sort them by name. Its argument is the path of a RunOrder in JSON;
 * options of node --test are given to this process as options of Node.js.
 */
import { createWriteStream, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { PassThrough } from 'node:stream';
import { finished } from 'node:stream/promises';
import { run } from 'node:test';
import * as reporters from 'node:test/reporters';

/** The files to run, and how. */
export interface RunOrder {
  /** Absolute paths. */
  readonly files: readonly string[];
  /** At least so many files run at once, unless --test-concurrency gives a number. */
  readonly atOnceMin: number;
  /** The time limit of a file. */
  readonly fileMsMax: number;
  /** The file that gets a line for each test process, by report-time.js. */
  readonly times: string;
}

/** Turns events into text: a function, or a stream. */
type Reporter = Parameters<PassThrough['compose']>[0];

/** The values of an option of this process, which may be given several times. */
function valuesOf(option: string): readonly string[] {
  return process.execArgv
    .filter((arg) => arg.startsWith(`${option}=`))
    .map((arg) => arg.slice(option.length + 1));
}

async function reporterOf(name: string): Promise<Reporter> {
  const { spec, ...others } = reporters;
  if (name === 'spec') return new spec();
  const own = (others as Readonly<Record<string, unknown>>)[name] as Reporter | undefined;
  return own ?? ((await import(name)) as { readonly default: Reporter }).default;
}

/**
 * A stream that passes events to one reporter, and a promise that resolves when all its output is
 * written.
 */
async function output(name: string, path: string): Promise<readonly [PassThrough, Promise<void>]> {
  const events = new PassThrough({ objectMode: true });
  const text = events.compose(await reporterOf(name));
  if (path === 'stdout' || path === 'stderr') {
    text.pipe(process[path], { end: false });
    return [events, finished(text, { writable: false })];
  }
  return [events, finished(text.pipe(createWriteStream(path)))];
}

/**
 * A stream for each requested reporter, or for the default one: spec on a terminal, tap elsewhere.
 */
function outputs(): Promise<readonly (readonly [PassThrough, Promise<void>])[]> {
  const names = valuesOf('--test-reporter');
  const paths = valuesOf('--test-reporter-destination');
  return Promise.all(
    (names.length === 0 ? [process.stdout.isTTY ? 'spec' : 'tap'] : names).map((name, index) =>
      output(name, paths[index] ?? 'stdout'),
    ),
  );
}

async function main(path: string): Promise<void> {
  const order = JSON.parse(readFileSync(path, 'utf8')) as RunOrder;
  process.env['SITUS_TEST_TIMES'] = `${process.pid}:${order.times}`;
  const told = await outputs();
  const [atOnce] = valuesOf('--test-concurrency');
  const events = run({
    files: [...order.files],
    timeout: order.fileMsMax,
    concurrency: Number(atOnce ?? Math.max(order.atOnceMin, availableParallelism())),
  });
  events.on('test:fail', ({ todo }) => {
    if (todo === undefined || todo === false) process.exitCode = 1;
  });
  for (const [stream] of told) events.pipe(stream);
  await Promise.all(told.map(([, written]) => written));
}

await main(process.argv[2] ?? '');
