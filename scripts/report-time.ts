/**
 * Imported before each test file (node --import). When its process ends, it adds a line to the file
 * of SITUS_TEST_TIMES=PID:PATH, if the process is a child of PID: its milliseconds of processor
 * time, including all processes that it waited for, its milliseconds by the clock, and what it ran.
 */
import { appendFileSync, readFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

const [, parent = '', told = ''] = /^(\d+):(.*)$/.exec(process.env['SITUS_TEST_TIMES'] ?? '') ?? [];
const [, file = ''] = process.argv;

/** Linux reports these times in hundredths of a second, whatever the kernel's own clock does. */
const TICK_MS = 10;

/**
 * User and system time of this process and its ended children; on other systems than Linux of this
 * process only.
 */
function processorMs(): number {
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) * TICK_MS;
  } catch {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1_000;
  }
}

if (isMainThread && Number(parent) === process.ppid) {
  process.on('exit', () =>
    appendFileSync(
      told,
      `${Math.round(processorMs())}\t${Math.round(process.uptime() * 1_000)}\t${file}\n`,
    ),
  );
}
