/** `situs lookup`: one answer from a local dataset, without a server. */
import { writeFileSync } from 'node:fs';
import { openWire, type WireContext } from '../api/lookup/context.js';
import type { Rendered } from '../api/lookup/fragment.js';
import { parseQuery } from '../api/lookup/query.js';
import { renderV60, renderV60Postal } from '../api/lookup/v60.js';
import { bytesOfParts } from '../base/byte-writer.js';
import { packageVersion } from '../base/process.js';
import { loadConfig } from '../config.js';
import { openDataset } from '../dataset/open.js';
import { Engine } from '../engine/engine.js';
import type { LookupQuery, PostalOutcome, SitusOutcome } from '../engine/lookup-query.js';
import { isFailure, type Failure } from '../failure.js';
import { GRANT_ALL } from '../pool/types.js';
import { receiptText, requestLine, sha256Of } from '../wire/receipt.js';
import { RESPONSE_CODES, SUCCESS } from '../wire/response-code.js';
import { print, UsageError } from './command-line.js';
import { lookupTable, refusalLines } from './lookup-table.js';
import { requireActive, soundRelease } from './sound-release.js';

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

/** What a query leads to, and the same in print. */
interface Found {
  readonly query: LookupQuery;
  readonly outcome: SitusOutcome | PostalOutcome;
  readonly rendered: Rendered;
}

/** Answers as a worker does, in version 60 and JSON. */
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
