/** `situs lookup`: rates from the local dataset, without a server. */
import { loadConfig } from '../config.js';
import { openDataset } from '../dataset/open.js';
import { Engine } from '../engine/engine.js';
import { readAnswers, RequestFrame } from '../pool/frame.js';
import { FLAG_ESTIMATED, FLAG_STALE, GRANT_ALL, type AnswerSlice } from '../pool/types.js';
import { PRECISIONS } from '../engine/situs.js';
import { answerFrame } from '../worker.js';
import { print } from './line.js';
import { lookupTable } from './lookup-table.js';
import { requireActive, soundRelease } from './sound-release.js';

const POINT = /^\s*(-?\d{1,3}(?:\.\d+)?)(?:\s*,\s*|\s+)(-?\d{1,3}(?:\.\d+)?)\s*$/;
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
  const engine = new Engine(openDataset(dir));
  try {
    const frame = new RequestFrame();
    frame.add({ kind: 'lookup', version: 60, grants: GRANT_ALL }, query);
    let answer: AnswerSlice | null = null;
    readAnswers(answerFrame(engine, frame.bytes(), Date.now()), 1, (_, slice) => {
      answer = slice;
    });
    if (answer === null) throw new Error('the engine gave no answer');
    return answer;
  } finally {
    engine.close();
  }
}

interface LookupAsked {
  readonly json?: boolean;
  readonly country?: string;
  readonly historical?: string;
}

/** Runs `situs lookup TEXT`; 0 when rates were found, 1 when not. */
export async function lookupCommand(
  text: string, { json, country, historical }: LookupAsked,
): Promise<number> {
  const { varDir } = loadConfig();
  const release = requireActive(varDir);
  const answer = ask(
    await soundRelease(varDir, release), queryOf(text, country, historical),
  );
  const body = Buffer.from(answer.body).toString('utf8');
  if (json) {
    print(body);
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
