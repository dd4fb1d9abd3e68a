/** Writes JSON lines to standard error. No line contains a key or an address. */
import { LOG_LEVELS, type LogLevel } from './setting.js';

type LogFields = Readonly<Record<string, string | number | boolean | null>>;

export interface Log {
  debug(event: string, fields?: LogFields): void;
  info(event: string, fields?: LogFields): void;
  warn(event: string, fields?: LogFields): void;
  error(event: string, fields?: LogFields): void;
}

type WriteLine = (line: string) => void;

/** Makes a log of lines of at least the level `least`, with `common` fields in each. */
export function createLog(
  least: LogLevel,
  write: WriteLine = (line) => process.stderr.write(line),
  common: LogFields = {},
): Log {
  const floor = LOG_LEVELS.indexOf(least);
  const at =
    (level: LogLevel) =>
    (event: string, fields?: LogFields): void => {
      if (LOG_LEVELS.indexOf(level) < floor) return;
      const time = new Date().toISOString();
      write(`${JSON.stringify({ time, level, event, ...common, ...fields })}\n`);
    };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

/** The console functions that libraries call, and the levels of their lines. */
const CONSOLE_LEVELS = { error: 'error', warn: 'warn', info: 'info', log: 'info' } as const;

/**
 * Turns what libraries write to the console into lines of the log, and returns a function that ends
 * this. When a disk is full, LMDB writes there after its native code has written words without a
 * line end, so that line is ended first.
 */
export function logConsole(
  log: Log,
  write: WriteLine = (line) => process.stderr.write(line),
): () => void {
  const before = { ...console };
  for (const [name, level] of Object.entries(CONSOLE_LEVELS)) {
    console[name as keyof typeof CONSOLE_LEVELS] = (...said: readonly unknown[]): void => {
      write('\n');
      log[level]('library', { message: said.map(messageOf).join(' ') });
    };
  }
  return () => {
    Object.assign(console, before);
  };
}

/** The message of any thrown value, for a log line. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** A log that writes nothing. */
export const SILENT: Log = createLog('error', () => undefined);

/** The kind and place of an error, without its message, which may repeat what a client sent. */
export function faultOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const [, place = ''] = /\n\s+at (.*)/.exec(error.stack ?? '') ?? [];
  return `${error.name} at ${place}`;
}
