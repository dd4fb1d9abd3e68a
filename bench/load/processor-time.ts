/** Processor time of another process, the steadiest figure on a machine that others use too. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

/** Fields of /proc/PID/stat after the name in brackets: user and system time. */
const USER_FIELD = 11;
const SYSTEM_FIELD = 12;

let ticks = 0;

/** Microseconds in one tick of /proc. */
function tickMicroseconds(): number {
  ticks ||= Number(execFileSync('getconf', ['CLK_TCK']).toString());
  return 1_000_000 / ticks;
}

/** Microseconds of processor time that a process has taken; NaN where the system does not tell. */
export function processorTime(pid: number): number {
  const file = `/proc/${pid}/stat`;
  if (!existsSync(file)) return Number.NaN;
  const text = readFileSync(file, 'utf8');
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[USER_FIELD]) + Number(fields[SYSTEM_FIELD])) * tickMicroseconds();
}
