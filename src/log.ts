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
