/** `situs lookup`: one answer from a local dataset, without a server. */
import { writeFileSync } from 'node:fs';
import { openWire, type WireContext } from '../api/lookup/context.js';
import { packageVersion } from '../base/process.js';
import { loadConfig } from '../config.js';
import { openDataset } from '../dataset/open.js';
import { Engine } from '../engine/engine.js';
import { PRECISIONS } from '../engine/situs.js';
import { readAnswers, RequestFrame } from '../pool/frame.js';
import {
  type AnswerSlice,
  FLAG_ESTIMATED,
  FLAG_PARTIAL,
  FLAG_STALE,
  GRANT_ALL,
} from '../pool/types.js';
import { receiptText, requestLine, sha256Of } from '../wire/receipt.js';
import { RESPONSE_CODES, SUCCESS } from '../wire/response-code.js';
import { answerFrame } from '../worker.js';
import { print, UsageError } from './command-line.js';
import { percent, type ProductDetail, productLines } from './product-lines.js';
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
        readonly lowest: number;
        readonly highest: number;
        readonly unknown?: true;
      };
      readonly border?: { readonly metres: number; readonly rate: number | null };
    };
  };
  readonly baseRates?: readonly Row[];
  readonly productDetail?: ProductDetail;
  readonly taxSummaries?: readonly { readonly summaryName: string; readonly rate: number }[];
  readonly addressDetail?: { readonly normalizedAddress: string; readonly incorporated: string };
  readonly results?: readonly Readonly<Record<string, string | number>>[];
}

function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? '').length)),
  );
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function level(jurType: string): string {
  return jurType
    .replace(/^US_/, '')
    .replace(/_(SALES|USE)_TAX$/, '')
    .toLowerCase();
}

type Note = NonNullable<NonNullable<Body['metadata']>['situs']>;

/** What the rate may be elsewhere in a ZIP. */
function inZip({ lowest, highest, unknown }: NonNullable<Note['assumed']>): string {
  if (lowest === highest) return 'the rate of a part of this ZIP is not known';
  return (
    `the rate may be ${percent(lowest)} to ${percent(highest)} in this ZIP` +
    (unknown === true ? ', and that of a part is not known' : '')
  );
}

/** What makes the answer less than certain, in sentences. */
function doubts({ assumed, border }: Note): readonly string[] {
  return [
    ...(assumed === undefined ? [] : [`assumed from the ZIP and the city: ${inZip(assumed)}`]),
    ...(border === undefined
      ? []
      : [
          `${border.metres} metres from a line beyond which the rate is ` +
            (border.rate === null ? 'not known' : percent(border.rate)),
        ]),
  ];
}

/** What whoever runs the service can do where it has no answer. */
const OPERATOR =
  'To see what is held: npx situs dataset coverage; to add rates of your own: ' +
  'npx situs dataset build --layer FILE';

/** Formats a v60 body: how the location was found, and what marks the lists behind its rates. */
function lookupTable(
  text: string,
  precision: string,
  marks: readonly string[],
  dataset: string,
): string {
  const body = JSON.parse(text) as Body;
  if (body.results !== undefined) {
    const header = ['city', 'county', 'state', 'sales', 'use'];
    const rows = body.results.map((row) => [
      String(row['geoCity']),
      String(row['geoCounty']),
      String(row['geoState']),
      percent(Number(row['taxSales'])),
      percent(Number(row['taxUse'])),
    ]);
    const rests = [...(marks.length === 0 ? [] : [marks.join(', ')]), `dataset ${dataset}`];
    return `${table([header, ...rows])}\n\n${rests.join('; ')}`;
  }
  const { response, situs } = body.metadata ?? {
    response: { code: RESPONSE_CODES.internal.code, message: 'no answer' },
  };
  if (response.code !== SUCCESS.code) {
    const refusal = `${response.code}: ${response.message}`;
    return response.code === RESPONSE_CODES['no-result'].code ? `${refusal}\n${OPERATOR}` : refusal;
  }
  const rows = (body.baseRates ?? [])
    .filter((row) => !row.jurType.endsWith('_USE_TAX'))
    .map((row) => [level(row.jurType), row.jurName, percent(row.rate)]);
  const total = body.taxSummaries?.[0];
  return [
    body.addressDetail?.normalizedAddress ?? '',
    '',
    table([...rows, ['total', '', percent(total?.rate ?? 0)]]),
    ...productLines(body.productDetail),
    '',
    `${body.addressDetail?.incorporated === 'true' ? 'incorporated' : 'unincorporated'}; ` +
      `found by ${[precision, ...marks].join(', ')}; dataset ${dataset}`,
    ...doubts(situs ?? {}),
  ].join('\n');
}

const POINT = /^\s*(-?\d{1,3}(?:\.\d+)?)(?:\s*,\s*|\s+)(-?\d{1,3}(?:\.\d+)?)\s*$/;
/** A ZIP, or what is meant to be one. */
const DIGITS = /^\d[\d-]*$/;

/** What `situs lookup` is asked beside the text. */
interface LookupAsked {
  readonly json?: boolean;
  readonly country?: string;
  readonly historical?: string;
  readonly tic?: string;
  readonly receipt?: string;
}

/** The query string for what was typed: a ZIP, a point, or else an address. */
function queryOf(text: string, { country, historical, tic }: LookupAsked): string {
  const query = new URLSearchParams();
  const point = POINT.exec(text);
  if (DIGITS.test(text.trim())) {
    if (tic !== undefined) throw new UsageError('--tic needs an address or a point; this is a ZIP');
    query.set('postalcode', text.trim());
  } else if (point) {
    query.set('lat', point[1]!);
    query.set('lng', point[2]!);
  } else query.set('address', text);
  if (country !== undefined) query.set('countryCode', country);
  if (historical !== undefined) query.set('historical', historical);
  if (tic !== undefined) query.set('taxabilityCode', tic);
  return query.toString();
}

function ask(dir: string, query: string, nowMs: number, context: WireContext): AnswerSlice {
  const engine = new Engine(openDataset(dir));
  try {
    const frame = new RequestFrame();
    frame.add({ kind: 'lookup', version: 60, grants: GRANT_ALL }, query);
    let answer: AnswerSlice | null = null;
    readAnswers(answerFrame(engine, frame.bytes(), nowMs, context), 1, (_, slice) => {
      answer = slice;
    });
    if (answer === null) throw new Error('the engine gave no answer');
    return answer;
  } finally {
    engine.close();
  }
}

/** Runs `situs lookup TEXT`; 0 when rates were found, 1 when not. */
export async function lookupCommand(text: string, asked: LookupAsked): Promise<number> {
  const { json, receipt } = asked;
  const { varDir, baseUrl, precisionMin, refuseUnruled } = loadConfig();
  const settings = { baseUrl, precisionMin, refuseUnruled };
  const release = requireActive(varDir);
  const query = queryOf(text, asked);
  const atMs = Date.now();
  const answer = ask(await soundRelease(varDir, release), query, atMs, openWire(settings));
  if (receipt !== undefined) {
    writeFileSync(
      receipt,
      `${receiptText({
        request: requestLine('GET', '/request/v60', query),
        bodySha256: null,
        dataset: release,
        atMs,
        grants: GRANT_ALL,
        ...settings,
        engine: `situs ${packageVersion()}`,
        status: answer.status,
        sha256: sha256Of(answer.body),
      })}\n`,
    );
  }
  const body = Buffer.from(answer.body).toString('utf8');
  if (json) {
    print(body);
    return answer.status === 200 ? 0 : 1;
  }
  const marks = [
    ...(answer.flags & FLAG_ESTIMATED ? ['estimated'] : []),
    ...(answer.flags & FLAG_STALE ? ['stale list'] : []),
    ...(answer.flags & FLAG_PARTIAL ? ['districts not listed'] : []),
  ];
  const precision = PRECISIONS[answer.precision] ?? 'none';
  const found = answer.status === 200;
  const told = lookupTable(body, precision, marks, release);
  (found ? process.stdout : process.stderr).write(`${told}\n`);
  return found ? 0 : 1;
}
