/** A place asked three ways: a single lookup, a row of a bulk file, a cart of one line. */
import Papa from 'papaparse';
import { PRODUCT_BIT } from '../../src/api/cart/options.js';
import type { Dataset } from '../../src/dataset/dataset.js';
import { readAnswers, RequestFrame } from '../../src/pool/frame.js';
import { unpackValue } from '../../src/pool/value.js';
import { FLAG_STALE, GRANT_ALL, type RequestFields } from '../../src/pool/types.js';
import { PRECISIONS } from '../../src/engine/situs.js';
import { answerFrame } from '../../src/worker.js';
import { runBulk } from './bulk-bodies.js';
import { engineOf } from './engine-of.js';

/** An address in its parts; empty text where it has none. */
export interface Written {
  readonly street: string;
  readonly city: string;
  readonly state: string;
  readonly zip: string;
}

/** What one way says: why it refuses, or rates in parts per billion. */
export interface Told {
  /** "" where it answers; the detail alone, in lower case and without full stop. */
  readonly refusal: string;
  /** Response code of lookups and rows; 100 or 0 of carts, whose refusals have none. */
  readonly code: number;
  readonly precision: string;
  readonly rate: number;
  /** State, county, city, districts. */
  readonly levels: readonly number[];
}

/** What a cart of one line says beside it. */
export interface ToldCart extends Told {
  /** Where it is refused: the member of the body. */
  readonly location: string;
  /** As printed. */
  readonly amount: string;
  readonly lineRate: number;
}

/** Decimals of amounts at each endpoint (contract 7 and 8). */
export const CALCULATED_DIGITS = 5;
export const MERCHANT_DIGITS = 2;

const LEVELS = ['state', 'county', 'city', 'district'] as const;

/** Midday of 2026-11-21 in the zones of all states: no clock tells another day. */
export const NOON_MS = Date.UTC(2026, 10, 21, 18);

const ONE = 1_000_000_000;
const NOTHING = { precision: 'none', rate: 0, levels: [0, 0, 0, 0] } as const;

/** A decimal fraction as it is printed, in parts per billion. */
function ppb(decimal: number | string): number {
  return Math.round(Number(decimal) * ONE);
}

/** The sentence after the code's own, which a lookup begins its message with. */
function detailOf(message: string): string {
  const detail = message.replace(/^[^.]*\.\s*/, '');
  return fold(detail === '' ? message : detail);
}

function fold(text: string): string {
  return text.toLowerCase().replace(/\.$/, '');
}

const LOOKUP = { kind: 'lookup', version: 60, grants: GRANT_ALL } as const;
const CALCULATION = { kind: 'cart', endpoint: 'calculation', optionBits: PRODUCT_BIT } as const;
const MERCHANT = { kind: 'cart', endpoint: 'merchant', optionBits: 0 } as const;

function ask(dataset: Dataset, fields: RequestFields, payload: string) {
  const frame = new RequestFrame();
  frame.add(fields, payload);
  const answers: { code: number; status: number; precision: string; text: string }[] = [];
  readAnswers(answerFrame(engineOf(dataset), frame.bytes(), NOON_MS), 1, (_, slice) => {
    const { code, status, precision, body } = slice;
    const text =
      fields.kind === 'cart' && status !== 200
        ? JSON.stringify(unpackValue(body))
        : Buffer.from(body).toString('utf8');
    answers.push({ code, status, precision: PRECISIONS[precision] ?? 'none', text });
  });
  return answers[0]!;
}

/** The address on one line. */
export function lineOf({ street, city, state, zip }: Written): string {
  return [street, city, `${state} ${zip}`.trim()].filter((part) => part !== '').join(', ');
}

interface RefusedLookup {
  readonly metadata: { readonly response: { readonly message: string } };
}

/** Why a lookup is refused, from its body. */
function reasonOf(text: string): string {
  const {
    metadata: { response },
  }: RefusedLookup = JSON.parse(text);
  return detailOf(response.message);
}

interface LookupBody {
  readonly baseRates: readonly { readonly jurType: string; readonly rate: number }[];
  readonly taxSummaries: readonly { readonly taxType: string; readonly rate: number }[];
}

/** A single lookup of version 60; `month` is YYYYMM, "" for today. */
export function byLookup(dataset: Dataset, address: string, month: string): Told {
  const past = month === '' ? '' : `&historical=${month}`;
  const query = `address=${encodeURIComponent(address)}${past}`;
  const { code, precision, text } = ask(dataset, LOOKUP, query);
  if (code !== 100) {
    return { ...NOTHING, code, refusal: reasonOf(text) };
  }
  const { baseRates, taxSummaries }: LookupBody = JSON.parse(text);
  const levels = LEVELS.map((level) =>
    baseRates
      .filter(({ jurType }) => jurType === `US_${level.toUpperCase()}_SALES_TAX`)
      .reduce((sum, { rate }) => sum + ppb(rate), 0),
  );
  const total = taxSummaries.find(({ taxType }) => taxType === 'SALES_TAX');
  return { refusal: '', code, precision, rate: ppb(total?.rate ?? Number.NaN), levels };
}

/** The rates of a lookup by ZIP and state, one for each tax area. */
export function byZip(
  dataset: Dataset,
  zip: string,
  state: string,
): { readonly refusal: Told } | { readonly rows: readonly Told[] } {
  const { code, precision, text } = ask(dataset, LOOKUP, `postalcode=${zip}&state=${state}`);
  if (code !== 100) {
    return { refusal: { ...NOTHING, code, refusal: reasonOf(text) } };
  }
  const { results }: { results: readonly Readonly<Record<string, number>>[] } = JSON.parse(text);
  return {
    rows: results.map((row) => ({
      refusal: '',
      code,
      precision,
      rate: ppb(row['taxSales'] ?? Number.NaN),
      levels: LEVELS.map((level) => ppb(row[`${level}SalesTax`] ?? Number.NaN)),
    })),
  };
}

/** A row of a CSV file; `columns` are its cells by role. */
export function byRow(dataset: Dataset, columns: Readonly<Record<string, string>>): Told {
  const body = Buffer.from(Papa.unparse([columns]));
  const { output } = runBulk('csv', [body], { dataset, output: 'csv', nowMs: NOON_MS });
  const [row = {}] = Papa.parse<Readonly<Record<string, string>>>(output.toString('utf8'), {
    header: true,
  }).data;
  const cell = (name: string): string => row[`situs_${name}`] ?? '';
  const code = Number(cell('code'));
  if (code !== 100) return { ...NOTHING, code, refusal: detailOf(cell('message')) };
  return {
    refusal: '',
    code,
    precision: cell('precision'),
    rate: ppb(cell('rate')),
    levels: LEVELS.map((level) => ppb(cell(`${level}_rate`))),
  };
}

interface CartBody {
  readonly items: readonly {
    readonly lineItems: readonly {
      readonly tax: { readonly rate: number; readonly amount: number };
      readonly explain: {
        readonly parts: readonly { readonly level: string; readonly ordinaryRate: string }[];
      };
    }[];
  }[];
}

interface RefusedBody {
  readonly errors: readonly { readonly location: string; readonly message: string }[];
}

function told(answer: ReturnType<typeof ask>): ToldCart {
  const { status, precision, text } = answer;
  if (status !== 200) {
    const {
      errors: [error],
    }: RefusedBody = JSON.parse(text);
    const { location = '', message = '' } = error ?? {};
    return { ...NOTHING, code: 0, refusal: fold(message), location, amount: '', lineRate: 0 };
  }
  const {
    items: [item],
  }: CartBody = JSON.parse(text);
  const [line] = item!.lineItems;
  const {
    tax,
    explain: { parts },
  } = line!;
  const levels = LEVELS.map((level) =>
    parts
      .filter((part) => part.level === level)
      .reduce((sum, { ordinaryRate }) => sum + ppb(ordinaryRate), 0),
  );
  return {
    refusal: '',
    code: 100,
    precision,
    levels,
    rate: levels.reduce((sum, rate) => sum + rate, 0),
    location: '',
    amount: String(tax.amount),
    lineRate: ppb(tax.rate),
  };
}

/** One line of ordinary goods at `cents`, with addresses on one line; amounts of five decimals. */
export function byCalculation(
  dataset: Dataset,
  origin: string,
  destination: string,
  cents: number,
): ToldCart {
  const item = {
    customerId: 'c',
    currency: {},
    origin: { address: origin },
    destination: { address: destination },
    lineItems: [{ itemId: 'i', price: cents / 100, quantity: 1 }],
  };
  const body = JSON.stringify({ items: [item], explain: true });
  return told(ask(dataset, CALCULATION, body));
}

function partsOf({ street, city, state, zip }: Written): object {
  return { line1: street, city, state, zip };
}

/** The same for a self-managed merchant, on a day of the past; amounts of two decimals. */
export function byMerchantCart(
  dataset: Dataset,
  origin: Written,
  destination: Written,
  cents: number,
  month: string,
): ToldCart {
  const item = {
    customerId: 'c',
    currency: {},
    origin: partsOf(origin),
    destination: partsOf(destination),
    lineItems: [{ index: 0, itemId: 'i', price: cents / 100, quantity: 1 }],
  };
  const day = `${month.slice(0, 4)}-${month.slice(4)}-01T18:00:00Z`;
  const date = month === '' ? {} : { transactionDate: day };
  const body = JSON.stringify({ items: [item], explain: true, ...date });
  return told(ask(dataset, MERCHANT, body));
}

/** Whether a lookup of version 60, one of version 30, a row and a cart of goods say "stale". */
export function staleWays(dataset: Dataset, place: Written): readonly boolean[] {
  const address = lineOf(place);
  const said = (text: string): boolean => /"stale": ?true/.test(text);
  const flags = (version: number): boolean => {
    const frame = new RequestFrame();
    frame.add({ ...LOOKUP, version }, `address=${encodeURIComponent(address)}`);
    let isStale = false;
    readAnswers(answerFrame(engineOf(dataset), frame.bytes(), NOON_MS), 1, (_, answer) => {
      isStale = (answer.flags & FLAG_STALE) !== 0;
    });
    return isStale;
  };
  const { output } = runBulk('csv', [Buffer.from(Papa.unparse([{ address }]))], {
    dataset,
    output: 'csv',
    nowMs: NOON_MS,
  });
  const [row = {}] = Papa.parse<Readonly<Record<string, string>>>(output.toString('utf8'), {
    header: true,
  }).data;
  const item = {
    customerId: 'c',
    currency: {},
    origin: partsOf(place),
    destination: partsOf(place),
    lineItems: [{ index: 0, itemId: 'i', price: 1, quantity: 1 }],
  };
  const cart = ask(dataset, MERCHANT, JSON.stringify({ items: [item], explain: true }));
  const lookup = ask(dataset, LOOKUP, `address=${encodeURIComponent(address)}`);
  return [said(lookup.text), flags(30), row['situs_note'] === 'stale', said(cart.text)];
}
