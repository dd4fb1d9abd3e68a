/** Releases that differ in one rate, so that each answer tells which of them it is from. */
import { writeRelease } from '../../src/ingest/writer.js';
import { DATE_OPEN, type DateInt } from '../../src/tax/date.js';
import { tinyContent } from './tiny-release.js';

/** A ZIP that every one of them knows. */
export const ZIP = '91010';

const STATES = [{
  code: 'QA', fips: '91', name: 'Aldermark', country: 'USA', timeZone: 'UTC',
  rules: [{
    from: 20200101 as DateInt, to: DATE_OPEN, serviceTaxable: 'N', freightTaxable: 'N',
    freightRule: 'EXEMPT', freightExemptWhenSeparatelyStated: true, freightDescription: 'exempt',
    sourcing: 'D', sourcingDescription: 'destination', source: 0,
  }],
}];

/** Names of the releases, by the rate of the ZIP; none is active. */
export async function writeRates(
  varDir: string, tenthsOfPercent: readonly number[],
): Promise<ReadonlyMap<number, string>> {
  const names = new Map<number, string>();
  for (const tenths of tenthsOfPercent) {
    const content = tinyContent(tenths);
    names.set(tenths / 1_000, await writeRelease(varDir, {
      ...content, documents: new Map([...content.documents, ['states', STATES]]),
    }, () => undefined));
  }
  return names;
}

/** The rate of an answer to a lookup of the ZIP. */
export function rateOf(answer: string): number {
  const found = /"taxSales":([\d.]+)/.exec(answer)?.[1];
  if (found === undefined) throw new Error(`no rate in ${answer}`);
  return Number(found);
}
