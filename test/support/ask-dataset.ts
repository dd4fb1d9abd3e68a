/** Asks a dataset as a worker would, without a server. */
import { after } from 'node:test';
import type { Dataset } from '../../src/dataset/dataset.js';
import { openDataset } from '../../src/dataset/open.js';
import { type Precision, PRECISIONS } from '../../src/engine/situs.js';
import { readAnswers, RequestFrame } from '../../src/pool/frame.js';
import { FLAG_ESTIMATED, FLAG_STALE, GRANT_ALL } from '../../src/pool/types.js';
import { answerFrame } from '../../src/worker.js';
import { buildRecipe, type Built } from './built-dataset.js';
import { engineOf } from './engine-of.js';

interface BaseRate {
  readonly jurName: string;
  readonly jurType: string;
  readonly jurTaxCode: string | null;
  readonly rate: number;
}

interface Asked {
  readonly status: number;
  readonly code: number;
  readonly precision: Precision;
  readonly stale: boolean;
  readonly estimated: boolean;
  readonly text: string;
  readonly message: string;
  /** Sales rows alone. */
  readonly rows: readonly BaseRate[];
  readonly total: number;
  readonly normalizedAddress: string;
  readonly incorporated: string;
}

interface Body {
  readonly metadata?: { readonly response: { readonly message: string } };
  readonly baseRates?: readonly BaseRate[];
  readonly taxSummaries?: readonly { readonly rate: number }[];
  readonly addressDetail?: { readonly normalizedAddress: string; readonly incorporated: string };
}

/** Asks version 60 with a query string. */
export function askQuery(
  dataset: Dataset,
  query: string,
  nowMs = Date.UTC(2026, 10, 21, 18),
): Asked {
  const frame = new RequestFrame();
  frame.add({ kind: 'lookup', version: 60, grants: GRANT_ALL }, query);
  let asked: Asked | null = null;
  readAnswers(answerFrame(engineOf(dataset), frame.bytes(), nowMs), 1, (_, slice) => {
    const text = Buffer.from(slice.body).toString('utf8');
    const body = JSON.parse(text) as Body;
    asked = {
      status: slice.status,
      code: slice.code,
      precision: PRECISIONS[slice.precision] ?? 'none',
      stale: (slice.flags & FLAG_STALE) !== 0,
      estimated: (slice.flags & FLAG_ESTIMATED) !== 0,
      text,
      message: body.metadata?.response.message ?? '',
      rows: (body.baseRates ?? []).filter((row) => !row.jurType.includes('_USE_')),
      total: body.taxSummaries?.[0]?.rate ?? Number.NaN,
      normalizedAddress: body.addressDetail?.normalizedAddress ?? '',
      incorporated: body.addressDetail?.incorporated ?? '',
    };
  });
  if (asked === null) throw new Error('no answer');
  return asked;
}

/** Asks for an address. */
export function askAddress(dataset: Dataset, address: string, more = '', nowMs?: number): Asked {
  return askQuery(dataset, `address=${encodeURIComponent(address)}${more}`, nowMs);
}

/** Builds and opens it; it is closed, and its folder removed, after the last test of the file. */
export function openRecipe(recipe: string): { readonly built: Built; readonly dataset: Dataset } {
  const built = buildRecipe(recipe);
  const dataset = openDataset(built.dir);
  after(() => {
    dataset.close();
    built.remove();
  });
  return { built, dataset };
}
