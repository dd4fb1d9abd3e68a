/** `situs lookup`: one answer from a local dataset, without a server. */
import { writeFileSync } from 'node:fs';
import { openWire, type WireContext } from '../api/lookup/context.js';
import { marksIn, marksOf, type Rendered } from '../api/lookup/fragment.js';
import { renderV60 } from '../api/lookup/v60.js';
import { bytesOfParts } from '../base/byte-writer.js';
import { packageVersion } from '../base/process.js';
import { loadConfig } from '../config.js';
import { openDataset } from '../dataset/open.js';
import { Engine } from '../engine/engine.js';
import type { Border, LookupQuery, PostalOutcome, SitusOutcome } from '../engine/lookup-query.js';
import { type Failure, isFailure } from '../failure.js';
import { GRANT_ALL } from '../pool/types.js';
import { receiptText, requestLine, sha256Of } from '../wire/receipt.js';
import { RESPONSE_CODES, responseOf, SUCCESS } from '../wire/response-code.js';
import { print, UsageError } from './command-line.js';
import { requireActive, soundRelease } from './sound-release.js';
import { NO_PRODUCT } from '../api/lookup/product-detail.js';
import { type NoProduct, ordinaryRates, type ProductFinding } from '../engine/product/rules.js';
import { normalizedAddress, type RateRange } from '../engine/situs.js';
import { formatUsd } from '../tax/amount.js';
import { effectiveRate, isWhole, type ProductRule } from '../tax/product-rule.js';
import { type Rate, RATE_ONE } from '../tax/rate.js';
import { parseQuery } from '../api/lookup/query-answer.js';
import { renderV60Postal } from '../api/lookup/legacy.js';

// Text for people about a lookup's answer, and about the rules of a product.

/** A fraction as a percentage, without digits that come only from binary rounding. */
export function percent(fraction: number): string {
  return `${Number((fraction * 100).toFixed(7))} %`;
}

/** A rate as a percentage. */
function ratePercent(rate: Rate): string {
  return percent(rate / RATE_ONE);
}

const THRESHOLDS: Readonly<
  Record<NonNullable<ProductRule['threshold']>['kind'], (dollars: string) => string>
> = {
  below_exempt: (dollars) => `exempt below $${dollars} an item`,
  above_exempt: (dollars) => `exempt above $${dollars} an item`,
  above_excess: (dollars) => `on what an item costs above $${dollars}`,
};

/** Conditions of a rule, besides its rate. */
function conditions(rule: ProductRule): readonly string[] {
  const { threshold, percentTaxable, perVolume, capPerUnit, from, to } = rule;
  return [
    ...(isWhole(rule) ? [] : ["the state's part; local rates as above"]),
    ...(threshold === null ? [] : [THRESHOLDS[threshold.kind](formatUsd(threshold.amount))]),
    ...(percentTaxable === null ? [] : [`on ${ratePercent(percentTaxable)} of the price`]),
    ...(perVolume === null ? [] : [`$${formatUsd(perVolume.amount)} ${perVolume.unit}`]),
    ...(capPerUnit === null ? [] : [`at most $${formatUsd(capPerUnit)} an item`]),
    ...(from === null ? [] : [`from ${from}`]),
    ...(to === null ? [] : [`to ${to}`]),
  ];
}

/**
 * The rules for the code that is asked for, one a line; empty where the dataset has no catalogue.
 */
export function productLines(
  code: string,
  found: ProductFinding | NoProduct,
  rates: SitusOutcome['rates'],
): readonly string[] {
  if (found.kind === 'no-catalogue') return [];
  if (found.kind !== 'found') {
    return ['', `${code}: there is no such product code (${NO_PRODUCT[found.kind]})`];
  }
  const ordinary = ordinaryRates(rates, found.meal);
  const rules = found.rules.map((rule) =>
    [ratePercent(effectiveRate(rule, ordinary)), ...conditions(rule)].join(', '),
  );
  const meals = (found.meal?.rules ?? []).map(
    ({ rate, taxName, name, replacesStateRate }) =>
      `${ratePercent(rate)} ${taxName} of ${name}` +
      (replacesStateRate ? ', in place of its rate above' : ''),
  );
  const lines = [...rules, ...meals];
  return [
    '',
    ...(lines.length === 0 ? ['no rule of its own; the rates above'] : lines).map(
      (line) => `${code} ${found.code.title}: ${line}`,
    ),
  ];
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

/** What the rate may be in other parts of a ZIP. */
function inZip({ lowest, highest, isOpen }: RateRange): string {
  if (lowest === highest) return 'the rate of a part of this ZIP is not known';
  return (
    `the rate may be ${ratePercent(lowest)} to ${ratePercent(highest)} in this ZIP` +
    (isOpen ? ', and that of a part is not known' : '')
  );
}

/** What makes the answer less than certain, in sentences. */
function doubts(assumed: RateRange | undefined, border: Border | null): readonly string[] {
  return [
    ...(assumed === undefined ? [] : [`assumed from the ZIP and the city: ${inZip(assumed)}`]),
    ...(border === null
      ? []
      : [
          `${border.metres} metres from a line beyond which the rate is ` +
            (border.rate === null ? 'not known' : ratePercent(border.rate)),
        ]),
  ];
}

/** What marks the lists behind an answer. */
const MARK_WORDS = {
  estimated: 'estimated',
  stale: 'stale list',
  partial: 'districts not listed',
} as const;

function zipTable({ rows }: PostalOutcome, marks: readonly string[], dataset: string): string {
  const header = ['city', 'county', 'state', 'sales', 'use'];
  const cells = rows.map(({ city, area, rates }) => [
    city,
    area.countyName.toUpperCase(),
    area.state,
    ratePercent(rates.sales),
    ratePercent(rates.use),
  ]);
  const rests = [...(marks.length === 0 ? [] : [marks.join(', ')]), `dataset ${dataset}`];
  return `${table([header, ...cells])}\n\n${rests.join('; ')}`;
}

function product(engine: Engine, query: LookupQuery, outcome: SitusOutcome): readonly string[] {
  const code = query.options.taxabilityCode;
  const found = code === null ? null : engine.product(outcome, code);
  if (code === null || found === null || isFailure(found)) return [];
  return productLines(code, found, outcome.rates);
}

function placeTable(
  engine: Engine,
  query: LookupQuery,
  outcome: SitusOutcome,
  marks: readonly string[],
): string {
  const { situs, area, rates } = outcome;
  const rows = rates.rows.map(({ component: { kind, level, jurName }, sales }) => [
    (kind ?? level).toLowerCase(),
    jurName,
    ratePercent(sales),
  ]);
  return [
    normalizedAddress(situs),
    '',
    table([...rows, ['total', '', ratePercent(rates.sales)]]),
    ...product(engine, query, outcome),
    '',
    `${area.incorporated ? 'incorporated' : 'unincorporated'}; ` +
      `found by ${[situs.precision, ...marks].join(', ')}; dataset ${engine.id}`,
    ...doubts(situs.assumed, engine.border(outcome)),
  ].join('\n');
}

/** An answer as text: how the location was found, its rates, and remarks. */
function lookupTable(
  engine: Engine,
  query: LookupQuery,
  outcome: SitusOutcome | PostalOutcome,
  flags: number,
): string {
  const marks = marksIn(marksOf(flags)).map((mark) => MARK_WORDS[mark]);
  return outcome.kind === 'postal'
    ? zipTable(outcome, marks, engine.id)
    : placeTable(engine, query, outcome, marks);
}

/** What the operator of the service can do where there is no answer. */
const OPERATOR =
  'To see what is held: npx situs dataset coverage; to add rates of your own: ' +
  'npx situs dataset build --layer FILE';

/** A refusal as text. */
function refusalLines(failure: Failure): string {
  const { code, message } = responseOf(failure);
  const refusal = `${code}: ${message}`;
  return failure.failure === 'no-result' ? `${refusal}\n${OPERATOR}` : refusal;
}

const POINT = /^\s*(-?\d{1,3}(?:\.\d+)?)(?:\s*,\s*|\s+)(-?\d{1,3}(?:\.\d+)?)\s*$/;
/** A ZIP, or what is meant to be one. */
const DIGITS = /^\d[\d-]*$/;

/** The options of `situs lookup`. */
interface LookupAsked {
  readonly json?: boolean;
  readonly country?: string;
  readonly historical?: string;
  readonly tic?: string;
  readonly receipt?: string;
}

/** The query string for the argument, which is a ZIP, a point or else an address. */
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

/** The outcome of a query, and the answer as a server would print it. */
interface Found {
  readonly query: LookupQuery;
  readonly outcome: SitusOutcome | PostalOutcome;
  readonly rendered: Rendered;
}

/** Answers a query as a worker does, in version 60 and JSON. */
function find(engine: Engine, context: WireContext, text: string, nowMs: number): Found | Failure {
  const parsed = parseQuery(text, 60, GRANT_ALL);
  if (isFailure(parsed)) return parsed;
  const { query } = parsed;
  const outcome = engine.lookup(query, nowMs, context.precisionMin);
  if (isFailure(outcome)) return outcome;
  const rendered =
    outcome.kind === 'postal'
      ? renderV60Postal(context, engine, query, outcome, 'json')
      : renderV60(context, engine, query, outcome, 'json');
  return isFailure(rendered) ? rendered : { query, outcome, rendered };
}

/** Runs `situs lookup TEXT`; 0 when rates were found, 1 when not. */
export async function lookupCommand(text: string, asked: LookupAsked): Promise<number> {
  const { json = false, receipt } = asked;
  const { varDir, baseUrl, precisionMin, refuseUnruled } = loadConfig();
  const settings = { baseUrl, precisionMin, refuseUnruled };
  const release = requireActive(varDir);
  const query = queryOf(text, asked);
  const atMs = Date.now();
  const context = openWire(settings);
  const engine = new Engine(openDataset(await soundRelease(varDir, release)));
  try {
    const found = find(engine, context, query, atMs);
    const { http: status } = isFailure(found) ? RESPONSE_CODES[found.failure] : SUCCESS;
    const body = isFailure(found)
      ? context.failures.bytes(60, found, 'json')
      : bytesOfParts(found.rendered.body);
    if (receipt !== undefined) {
      const told = receiptText({
        request: requestLine('GET', '/request/v60', query),
        bodySha256: null,
        dataset: release,
        atMs,
        grants: GRANT_ALL,
        ...settings,
        engine: `situs ${packageVersion()}`,
        status,
        sha256: sha256Of(body),
      });
      writeFileSync(receipt, `${told}\n`);
    }
    if (json) print(Buffer.from(body).toString('utf8'));
    else if (isFailure(found)) process.stderr.write(`${refusalLines(found)}\n`);
    else {
      const { outcome, rendered } = found;
      process.stdout.write(`${lookupTable(engine, found.query, outcome, rendered.flags)}\n`);
    }
    return isFailure(found) ? 1 : 0;
  } finally {
    engine.close();
  }
}
