/** Lines that commands write: results on standard output, progress beside them. */

export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

export function progress(text: string): void {
  process.stderr.write(`${text}\n`);
}
