/** `situs lookup`: rates from the local dataset, without a server. */
import { writeFileSync } from 'node:fs';
import { packageVersion } from '../base/package-version.js';
import { loadConfig } from '../config.js';
import { openDataset } from '../dataset/open.js';
import { Engine } from '../engine/engine.js';
import { readAnswers, RequestFrame } from '../pool/frame.js';
import { FLAG_ESTIMATED, FLAG_STALE, GRANT_ALL, type AnswerSlice } from '../pool/types.js';
import { PRECISIONS } from '../engine/situs.js';
import { RESPONSE_CODES, SUCCESS } from '../wire/response-code.js';
import { receiptText, requestLine, sha256Of } from '../wire/receipt.js';
import { answerFrame } from '../worker.js';
import { print } from './command-line.js';
import { requireActive, soundRelease } from './sound-release.js';

interface Row {
  readonly jurName: string;
  readonly jurType: string;
  readonly rate: number;
}

interface Body {
  readonly metadata?: {
    readonly response: { readonly code: number; readonly message: string };
    readonly situs?: {
      readonly assumed?: {
        readonly lowest: number; readonly highest: number; readonly unknown?: true;
      };
      readonly border?: { readonly metres: number; readonly rate: number | null };
    };
  };
  readonly baseRates?: readonly Row[];
  readonly taxSummaries?: readonly { readonly summaryName: string; readonly rate: number }[];
  readonly addressDetail?: { readonly normalizedAddress: string; readonly incorporated: string };
  readonly results?: readonly Readonly<Record<string, string | number>>[];
}

/** A decimal fraction as a percentage without binary dust. */
function percent(rate: number): string {
  return `${Number((rate * 100).toFixed(7))} %`;
}

function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? '').length)));
  return rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column]!)).join('  ')
    .trimEnd()).join('\n');
}

function level(jurType: string): string {
  return jurType.replace(/^US_/, '').replace(/_(SALES|USE)_TAX$/, '').toLowerCase();
}

/** What makes the answer less than certain, in sentences. */
function doubts(
  { assumed, border }: NonNullable<NonNullable<Body['metadata']>['situs']>,
): readonly string[] {
  return [
    ...(assumed === undefined ? [] : ['assumed from the ZIP and the city: the rate may be '
      + `${percent(assumed.lowest)} to ${percent(assumed.highest)} in this ZIP`
      + (assumed.unknown === true ? ', and that of a part is not known' : '')]),
    ...(border === undefined ? [] : [`${border.metres} metres from a line beyond which the rate is `
      + (border.rate === null ? 'not known' : percent(border.rate))]),
  ];
}

/** What whoever runs the service can do where it has no answer. */
const OPERATOR = 'To see what is held: npx situs dataset coverage; to add rates of your own: '
  + 'npx situs dataset build --layer FILE';

/** Formats a v60 body; `marks` tell how the location was found. */
function lookupTable(text: string, marks: string, dataset: string): string {
  const body = JSON.parse(text) as Body;
  if (body.results !== undefined) {
    const header = ['city', 'county', 'state', 'sales', 'use'];
    const rows = body.results.map((row) => [
      String(row['geoCity']), String(row['geoCounty']), String(row['geoState']),
      percent(Number(row['taxSales'])), percent(Number(row['taxUse'])),
    ]);
    return `${table([header, ...rows])}\n\ndataset ${dataset}`;
  }
  const { response, situs } = body.metadata
    ?? { response: { code: RESPONSE_CODES.internal.code, message: 'no answer' } };
  if (response.code !== SUCCESS.code) {
    const refusal = `${response.code}: ${response.message}`;
    return response.code === RESPONSE_CODES['no-result'].code ? `${refusal}\n${OPERATOR}` : refusal;
  }
  const rows = (body.baseRates ?? []).filter((row) => !row.jurType.endsWith('_USE_TAX'))
    .map((row) => [level(row.jurType), row.jurName, percent(row.rate)]);
  const total = body.taxSummaries?.[0];
  return [
    body.addressDetail?.normalizedAddress ?? '',
    '',
    table([...rows, ['total', '', percent(total?.rate ?? 0)]]),
    '',
    `${body.addressDetail?.incorporated === 'true' ? 'incorporated' : 'unincorporated'}; ` +
      `found by ${marks}; dataset ${dataset}`,
    ...doubts(situs ?? {}),
  ].join('\n');
}

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

function ask(dir: string, query: string, nowMs: number): AnswerSlice {
  const engine = new Engine(openDataset(dir));
  try {
    const frame = new RequestFrame();
    frame.add({ kind: 'lookup', version: 60, grants: GRANT_ALL }, query);
    let answer: AnswerSlice | null = null;
    readAnswers(answerFrame(engine, frame.bytes(), nowMs), 1, (_, slice) => {
      answer = slice;
    });
    if (answer === null) throw new Error('the engine gave no answer');
    return answer;
  } finally {
    engine.close();
  }
}

/** Settings that a lookup of the command line is answered with. */
const DEFAULTS = { baseUrl: '', precisionMin: 'city', refuseUnruled: false } as const;

interface LookupAsked {
  readonly json?: boolean;
  readonly country?: string;
  readonly historical?: string;
  readonly receipt?: string;
}

/** Runs `situs lookup TEXT`; 0 when rates were found, 1 when not. */
export async function lookupCommand(
  text: string, { json, country, historical, receipt }: LookupAsked,
): Promise<number> {
  const { varDir } = loadConfig();
  const release = requireActive(varDir);
  const query = queryOf(text, country, historical);
  const atMs = Date.now();
  const answer = ask(await soundRelease(varDir, release), query, atMs);
  if (receipt !== undefined) {
    writeFileSync(receipt, `${receiptText({
      request: requestLine('GET', '/request/v60', query), bodySha256: null, dataset: release, atMs,
      grants: GRANT_ALL, ...DEFAULTS, engine: `situs ${packageVersion()}`,
      status: answer.status, sha256: sha256Of(answer.body),
    })}\n`);
  }
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
