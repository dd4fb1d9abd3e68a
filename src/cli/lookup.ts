/** `situs lookup`: rates from the local dataset, without a server. */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { loadConfig } from '../config.js';
import { openDataset } from '../dataset/open.js';
import { currentRelease, releasesDir } from '../dataset/release.js';
import {
  FLAG_ESTIMATED, FLAG_STALE, GRANT_ALL, OP_LOOKUP, readAnswers, RequestFrame, type AnswerSlice,
} from '../engine/frame.js';
import { PRECISIONS } from '../engine/situs.js';
import { answerFrame } from '../wire/answer.js';
import { lookupTable } from './lookup-table.js';
import { UsageError } from './usage.js';

export const USAGE = `situs lookup "200 Spectrum Center Dr, Irvine, CA 92618"
situs lookup 44.4759,-73.2121        a point: latitude,longitude; as two words too
situs lookup 05401                   a ZIP
  --json              the answer as the API gives it
  --country CODE      USA (default), CAN, PRI, ASM, GUM, MNP, VIR
  --historical YYYYMM rates of a past month
`;

const POINT = /^\s*(-?\d{1,3}(?:\.\d+)?)(?:\s*,\s*|\s+)(-?\d{1,3}(?:\.\d+)?)\s*$/;
/** A word that begins with a negative coordinate and would be read as an option. */
const NEGATIVE = /^-[\d.]/;

/** The query string for what was typed: a ZIP, a point, or else an address. */
function queryOf(
  text: string, country: string | undefined, historical: string | undefined,
): string {
  const query = new URLSearchParams();
  const point = POINT.exec(text);
  if (/^\d{5}$/.test(text.trim())) query.set('postalcode', text.trim());
  else if (point) {
    query.set('lat', point[1]!);
    query.set('lng', point[2]!);
  } else query.set('address', text);
  if (country !== undefined) query.set('countryCode', country);
  if (historical !== undefined) query.set('historical', historical);
  return query.toString();
}

function ask(dir: string, query: string): AnswerSlice {
  const dataset = openDataset(dir);
  try {
    const frame = new RequestFrame();
    frame.add(OP_LOOKUP, 60, GRANT_ALL, query);
    let answer: AnswerSlice | null = null;
    readAnswers(answerFrame(dataset, frame.bytes(), Date.now()), 1, (_, slice) => {
      answer = slice;
    });
    if (answer === null) throw new Error('the engine gave no answer');
    return answer;
  } finally {
    dataset.close();
  }
}

/** Runs `situs lookup ARGS`; 0 when rates were found, 1 when not. */
export async function lookupCommand(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    // A blank before it makes an argument of it, and is trimmed from the point.
    args: args.map((word) => (NEGATIVE.test(word) ? ` ${word}` : word)), allowPositionals: true,
    options: {
      json: { type: 'boolean', default: false },
      country: { type: 'string' },
      historical: { type: 'string' },
    },
  });
  if (positionals.length === 0) throw new UsageError(USAGE);
  const { varDir } = loadConfig();
  const release = currentRelease(varDir);
  if (release === null) {
    throw new Error('no dataset is active; build one with: npx situs dataset build --activate');
  }
  const answer = ask(join(releasesDir(varDir), release),
    queryOf(positionals.join(' '), values.country, values.historical));
  const body = Buffer.from(answer.body).toString('utf8');
  if (values.json) {
    process.stdout.write(`${body}\n`);
    return answer.status === 200 ? 0 : 1;
  }
  const marks = [
    PRECISIONS[answer.precision] ?? 'none',
    ...(answer.flags & FLAG_ESTIMATED ? ['estimated'] : []),
    ...(answer.flags & FLAG_STALE ? ['stale list'] : []),
  ].join(', ');
  const found = answer.status === 200;
  (found ? process.stdout : process.stderr).write(`${lookupTable(body, marks, release)}\n`);
  return found ? 0 : 1;
}
