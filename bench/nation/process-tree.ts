/**
 * Watches a command that starts other processes, by /proc: how long each of its steps took, by the
 * clock and in processor time, and the memory of the processes.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';

const TICK_MS = 50;

interface Step {
  seconds: number;
  cpuSeconds: number;
}

/** The text of a file of /proc; "" if its process has ended. */
function proc(path: string): string {
  try {
    return readFileSync(`/proc/${path}`, 'latin1');
  } catch {
    return '';
  }
}

/** A process and all its descendants. */
function treeOf(pid: number): readonly number[] {
  const tasks = existsSync(`/proc/${pid}/task`) ? readdirSync(`/proc/${pid}/task`) : [];
  return [
    pid,
    ...tasks.flatMap((task) =>
      proc(`${pid}/task/${task}/children`)
        .split(' ')
        .filter((text) => text !== '')
        .flatMap((text) => treeOf(Number(text))),
    ),
  ];
}

/** Processor seconds of a process and of its ended children; /proc counts hundredths. */
function processorSeconds(pid: number): number {
  const [, fields = ''] = proc(`${pid}/stat`).split(') ');
  return (
    fields
      .split(' ')
      .slice(11, 15)
      .reduce((sum, text) => sum + Number(text), 0) / 100
  );
}

function kibibytes(status: string, name: string): number {
  return Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(status)?.[1] ?? 0);
}

export class ProcessTree {
  readonly steps = new Map<string, Step>();
  /** In MiB: the most of any single process, and of all together at one moment. */
  readonly peak = { process: 0, all: 0 };
  #isBuilding = false;
  #wasBuilt = false;
  #wasVerified = false;
  #last = { seconds: performance.now() / 1000, cpuSeconds: 0 };
  /** The time that is not attributed to a step yet. */
  #waiting: Step = { seconds: 0, cpuSeconds: 0 };
  readonly #timer = setInterval(() => this.#tick(), TICK_MS);

  constructor(readonly pid: number) {}

  /**
   * Called when the command has printed a line: the time since the last one belongs to that step.
   */
  told(line: string): void {
    this.#tick();
    if (!this.#wasBuilt) this.#settle('fetch');
    else this.#settle(line.endsWith(' answers') ? 'activate' : 'compare');
  }

  /** Called when the command has ended. */
  end(): void {
    clearInterval(this.#timer);
    this.#tick();
    this.#settle('activate');
  }

  #settle(name: string): void {
    const step = this.steps.get(name) ?? { seconds: 0, cpuSeconds: 0 };
    step.seconds += this.#waiting.seconds;
    step.cpuSeconds += this.#waiting.cpuSeconds;
    this.steps.set(name, step);
    this.#waiting = { seconds: 0, cpuSeconds: 0 };
  }

  #tick(): void {
    const pids = treeOf(this.pid);
    const words = pids.map((pid) => proc(`${pid}/cmdline`));
    const status = pids.map((pid) => proc(`${pid}/status`));
    const mib = (name: string): readonly number[] =>
      status.map((text) => Math.round(kibibytes(text, name) / 1024));
    this.peak.process = Math.max(this.peak.process, ...mib('VmHWM'));
    this.peak.all = Math.max(
      this.peak.all,
      mib('VmRSS').reduce((sum, own) => sum + own, 0),
    );
    const seconds = performance.now() / 1000;
    // The time of an ended process is missing until its parent's sum includes it.
    const cpuSeconds = Math.max(
      this.#last.cpuSeconds,
      pids.reduce((sum, pid) => sum + processorSeconds(pid), 0),
    );
    this.#waiting.seconds += seconds - this.#last.seconds;
    this.#waiting.cpuSeconds += cpuSeconds - this.#last.cpuSeconds;
    this.#last = { seconds, cpuSeconds };
    this.#settleByProcesses(words);
  }

  #settleByProcesses(words: readonly string[]): void {
    const builds = words.some((text) => text.includes('--in-this-process'));
    const verifies = words.some((text) => text.includes('workers/release.js'));
    if (builds && !this.#isBuilding) this.#settle('compare files');
    else if (verifies) this.#settle('verify');
    else if (builds) this.#settle(this.#wasVerified ? 'look through' : 'build');
    this.#isBuilding = builds;
    this.#wasBuilt ||= builds;
    this.#wasVerified ||= verifies;
  }
}
