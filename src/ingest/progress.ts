/** Progress of long work: a bar on a terminal, plain lines elsewhere. */
import type { Progress } from './model.js';

const BAR_COLUMNS = 28;

interface Output {
  readonly isTTY?: boolean;
  write(text: string): boolean;
}

function bar(done: number, total: number): string {
  const share = total > 0 ? Math.min(1, done / total) : 1;
  const filled = Math.round(share * BAR_COLUMNS);
  return `${'#'.repeat(filled)}${'.'.repeat(BAR_COLUMNS - filled)} ${Math.floor(share * 100)} %`;
}

/** Makes a progress that writes to `output` (standard error as a rule). */
export function createProgress(output: Output): Progress {
  let stage = '';
  return (name, done, total) => {
    if (output.isTTY === true) {
      if (stage !== '' && stage !== name) output.write('\n');
      output.write(`\r${name.padEnd(12)} ${bar(done, total)}`);
      if (done >= total) {
        output.write('\n');
        stage = '';
        return;
      }
    } else if (name !== stage || done >= total) {
      output.write(`${name}: ${done} of ${total}\n`);
    }
    stage = name;
  };
}
