/** JSON lines on standard error. Nothing logged here holds a key or an address. */
import { LOG_LEVELS, type LogLevel } from './setting.js';

type LogFields = Readonly<Record<string, string | number | boolean | null>>;

export interface Log {
  debug(event: string, fields?: LogFields): void;
  info(event: string, fields?: LogFields): void;
  warn(event: string, fields?: LogFields): void;
  error(event: string, fields?: LogFields): void;
}

type WriteLine = (line: string) => void;

/** Makes a log that writes lines of `least` importance and above, each with some fields. */
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

/** What libraries write to, by how much what they write matters. */
const CONSOLE_LEVELS = { error: 'error', warn: 'warn', info: 'info', log: 'info' } as const;

/**
 * Has what libraries write to the console told by lines of the log, and returns what ends that.
 * LMDB writes of a full disk there, behind words of its native code that do not end their line: so
 * the line before is ended.
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

/** The message of anything thrown, for a log line. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** A log that says nothing. */
export const SILENT: Log = createLog('error', () => undefined);

/** Kind and place of an error without its message, which may repeat what a client sent. */
export function faultOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const [, place = ''] = /\n\s+at (.*)/.exec(error.stack ?? '') ?? [];
  return `${error.name} at ${place}`;
}
