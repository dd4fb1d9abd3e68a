/**
 * The same closed loop by wrk, where it is installed: it takes about a quarter of the processor
 * time of our own generator, which matters where server and generator share two cores.
 */
import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LoadOptions, LoadResult } from './load.js';

/** Tells whether wrk can be run. */
export function hasWrk(): boolean {
  try {
    execFileSync('wrk', ['-v'], { stdio: 'ignore' });
    return true;
  } catch (error) {
    // `wrk -v` prints its version and exits with 1.
    return (error as { code?: string }).code !== 'ENOENT';
  }
}

function script(options: LoadOptions): string {
  const headers = Object.entries(options.headers ?? {})
    .map(([name, value]) => `wrk.headers[${JSON.stringify(name)}] = ${JSON.stringify(value)}`);
  return [
    `math.randomseed(${options.seed ?? 1})`,
    ...headers,
    'local paths = {',
    ...options.paths.map((path) => `${JSON.stringify(path)},`),
    '}',
    'local requests = {}',
    'init = function()',
    '  for i, path in ipairs(paths) do requests[i] = wrk.format("GET", path) end',
    'end',
    'request = function() return requests[math.random(#requests)] end',
    'done = function(summary, latency)',
    '  local e = summary.errors',
    '  print(string.format("RESULT %d %d %f %f %d", summary.requests, summary.duration,',
    '    latency:percentile(50), latency:percentile(99),',
    '    e.connect + e.read + e.write + e.status + e.timeout))',
    'end',
    '',
  ].join('\n');
}

/** Runs the load with one wrk thread. */
export async function runWrk(options: LoadOptions): Promise<LoadResult> {
  const dir = mkdtempSync(join(tmpdir(), 'situs-wrk-'));
  try {
    const file = join(dir, 'load.lua');
    writeFileSync(file, script(options));
    const output = await new Promise<string>((resolve, reject) => {
      execFile('wrk', [
        '-t1', `-c${options.connections ?? 64}`, `-d${options.seconds ?? 3}s`, '-s', file,
        `http://127.0.0.1:${options.port}`,
      ], (error, stdout) => (error === null ? resolve(stdout) : reject(error)));
    });
    const found = /RESULT (\d+) (\d+) ([\d.]+) ([\d.]+) (\d+)/.exec(output);
    if (found === null) throw new Error(`wrk said: ${output}`);
    const [requests, micros, p50, p99, errors] = found.slice(1).map(Number);
    return {
      rps: requests! / (micros! / 1e6), p50: p50! / 1000, p99: p99! / 1000,
      errors: errors!, requests: requests!, statuses: {},
    };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
