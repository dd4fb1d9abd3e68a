/** `situs lookup` and `situs replay`: one answer from a local dataset, without a server. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { optionBits, optionsOfQuery, PRODUCT_BIT, SAME_IDS_BIT } from '../api/cart/options.js';
import { openWire, type WireContext } from '../api/lookup/context.js';
import { packageVersion } from '../base/process.js';
import { isProblem } from '../base/problem.js';
import { loadConfig } from '../config.js';
import { openDataset } from '../dataset/open.js';
import { releasesDir } from '../dataset/release.js';
import { Engine } from '../engine/engine.js';
import { PRECISIONS } from '../engine/situs.js';
import { readAnswers, RequestFrame } from '../pool/frame.js';
import {
  type AnswerSlice, FLAG_ESTIMATED, FLAG_PARTIAL, FLAG_STALE, GRANT_ALL, GRANT_PRODUCT,
  type RequestFields,
} from '../pool/types.js';
import { parseReceipt, type Receipt, receiptText, requestLine, sha256Of } from '../wire/receipt.js';
import { RESPONSE_CODES, SUCCESS } from '../wire/response-code.js';
import { API_VERSIONS } from '../wire/version.js';
import { answerFrame } from '../worker.js';
import { print, progress } from './command-line.js';
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

type Note = NonNullable<NonNullable<Body['metadata']>['situs']>;

/** What the rate may be elsewhere in a ZIP. */
function inZip({ lowest, highest, unknown }: NonNullable<Note['assumed']>): string {
  if (lowest === highest) return 'the rate of a part of this ZIP is not known';
  return `the rate may be ${percent(lowest)} to ${percent(highest)} in this ZIP`
    + (unknown === true ? ', and that of a part is not known' : '');
}

/** What makes the answer less than certain, in sentences. */
function doubts(
  { assumed, border }: Note,
): readonly string[] {
  return [
    ...(assumed === undefined ? [] : [`assumed from the ZIP and the city: ${inZip(assumed)}`]),
    ...(border === undefined ? [] : [`${border.metres} metres from a line beyond which the rate is `
      + (border.rate === null ? 'not known' : percent(border.rate))]),
  ];
}

/** What whoever runs the service can do where it has no answer. */
const OPERATOR = 'To see what is held: npx situs dataset coverage; to add rates of your own: '
  + 'npx situs dataset build --layer FILE';

/** Formats a v60 body: how the location was found, and what marks the lists behind its rates. */
function lookupTable(
  text: string, precision: string, marks: readonly string[], dataset: string,
): string {
  const body = JSON.parse(text) as Body;
  if (body.results !== undefined) {
    const header = ['city', 'county', 'state', 'sales', 'use'];
    const rows = body.results.map((row) => [
      String(row['geoCity']), String(row['geoCounty']), String(row['geoState']),
      percent(Number(row['taxSales'])), percent(Number(row['taxUse'])),
    ]);
    const rests = [...(marks.length === 0 ? [] : [marks.join(', ')]), `dataset ${dataset}`];
    return `${table([header, ...rows])}\n\n${rests.join('; ')}`;
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
      `found by ${[precision, ...marks].join(', ')}; dataset ${dataset}`,
    ...doubts(situs ?? {}),
  ].join('\n');
}

const POINT = /^\s*(-?\d{1,3}(?:\.\d+)?)(?:\s*,\s*|\s+)(-?\d{1,3}(?:\.\d+)?)\s*$/;
/** A ZIP, or what is meant to be one. */
const DIGITS = /^\d[\d-]*$/;

/** The query string for what was typed: a ZIP, a point, or else an address. */
function queryOf(
  text: string, country: string | undefined, historical: string | undefined,
): string {
  const query = new URLSearchParams();
  const point = POINT.exec(text);
  if (DIGITS.test(text.trim())) query.set('postalcode', text.trim());
  else if (point) {
    query.set('lat', point[1]!);
    query.set('lng', point[2]!);
  } else query.set('address', text);
  if (country !== undefined) query.set('countryCode', country);
  if (historical !== undefined) query.set('historical', historical);
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
  const { varDir, baseUrl, precisionMin, refuseUnruled } = loadConfig();
  const settings = { baseUrl, precisionMin, refuseUnruled };
  const release = requireActive(varDir);
  const query = queryOf(text, country, historical);
  const atMs = Date.now();
  const answer = ask(await soundRelease(varDir, release), query, atMs, openWire(settings));
  if (receipt !== undefined) {
    writeFileSync(receipt, `${receiptText({
      request: requestLine('GET', '/request/v60', query), bodySha256: null, dataset: release, atMs,
      grants: GRANT_ALL, ...settings, engine: `situs ${packageVersion()}`,
      status: answer.status, sha256: sha256Of(answer.body),
    })}\n`);
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

/*
 * `situs replay RECEIPT`: an old answer once more, and whether it is the one that was given.
 */

const STDIN = 0;
/** The exit code where the answer is another one. */
const DIFFERS = 3;

/** A request as a worker is asked it. */
interface Question {
  readonly fields: RequestFields;
  readonly payload: string | Uint8Array;
}

/** Paths of lookups, by which their versions are told. */
const LOOKUP = /^GET \/request\/v(\d\d)\/?$/;
const ENDPOINTS = new Map([
  ['POST /merchant/cart/calculate', 'merchant'], ['POST /calculate/cart', 'calculation'],
] as const);

/** The body of the request, which a receipt has the checksum of. */
function bodyOf({ bodySha256 }: Receipt, file: string | undefined): Uint8Array {
  if (file === undefined) {
    throw new Error('the receipt is of a request with a body: --body FILE names it');
  }
  const body = readFileSync(file);
  if (sha256Of(body) === bodySha256) return body;
  throw new Error(`${file} is not the body that the receipt is of: its SHA-256 is another`);
}

function questionOf(receipt: Receipt, bodyFile: string | undefined): Question {
  const [target = '', ...rest] = receipt.request.split('?');
  const query = rest.join('?');
  const asked = Number(LOOKUP.exec(target)?.[1]);
  const version = API_VERSIONS.find((each) => each === asked);
  if (version !== undefined) {
    return { fields: { kind: 'lookup', version, grants: receipt.grants }, payload: query };
  }
  for (const [operation, endpoint] of ENDPOINTS) {
    if (operation !== target.replace(/\/$/, '')) continue;
    const options = optionsOfQuery(query);
    if (isProblem(options)) throw new Error(`the receipt's request is broken: ${options.detail}`);
    const codes = (receipt.grants & GRANT_PRODUCT) === 0 ? 0 : PRODUCT_BIT;
    const bits = optionBits(options) | SAME_IDS_BIT | codes;
    const fields = { kind: 'cart', endpoint, optionBits: bits } as const;
    return { fields, payload: bodyOf(receipt, bodyFile) };
  }
  throw new Error(`the receipt is of ${target}, which cannot be answered again`);
}

/** Answers a question with a release, at the moment and with the settings of its receipt. */
function answered(
  dir: string, { fields, payload }: Question, receipt: Receipt,
): { readonly status: number; readonly body: Uint8Array } {
  const engine = new Engine(openDataset(dir));
  try {
    const frame = new RequestFrame();
    frame.add(fields, payload);
    let answer: { readonly status: number; readonly body: Uint8Array } = {
      status: 0, body: new Uint8Array(0),
    };
    const { baseUrl, precisionMin, refuseUnruled } = receipt;
    const context = openWire({ baseUrl, precisionMin, refuseUnruled });
    readAnswers(answerFrame(engine, frame.bytes(), receipt.atMs, context), 1,
      (_, { status, body }) => {
        answer = { status, body: Buffer.from(body) };
      });
    return answer;
  } finally {
    engine.close();
  }
}

/** Runs `situs replay FILE`; 0 where the answer is the one that the receipt is of, 3 where not. */
export async function replayCommand(
  file: string, { body }: { readonly body?: string },
): Promise<number> {
  const { varDir } = loadConfig();
  const receipt = parseReceipt(readFileSync(file === '-' ? STDIN : file, 'utf8'));
  const { dataset, engine } = receipt;
  const question = questionOf(receipt, body);
  if (!existsSync(join(releasesDir(varDir), dataset))) {
    throw new Error(`the dataset ${dataset} is not kept in ${varDir}; ` +
      'npx situs dataset unpack takes it out of its bundle');
  }
  const answer = answered(await soundRelease(varDir, dataset), question, receipt);
  process.stdout.write(answer.body);
  const sum = sha256Of(answer.body);
  if (sum === receipt.sha256 && answer.status === receipt.status) {
    progress(`the answer is the one that was given, byte for byte (SHA-256 ${sum})`);
    return 0;
  }
  const here = `situs ${packageVersion()}`;
  const versions = engine === here ? '' : `; it was given by ${engine}, this is ${here}`;
  progress(`the answer is another than the one that was given: status ${answer.status}, SHA-256 `
    + `${sum}; not ${receipt.status}, ${receipt.sha256}${versions}`);
  return DIFFERS;
}
