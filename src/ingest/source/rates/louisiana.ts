/**
 * Louisiana's local rates: answers of the lookup for remote sellers, one page a parish, saved one
 * after the other. In each a list ddlJurisdiction with the parish chosen ("Acadia Parish (0100)"),
 * a list ddlFilingPeriod with the month chosen (MM-DD-YYYY), and a table grdRates: Jurisdiction
 * (Domicile Code), tax rate in percent, and three more. The rate is all that is levied locally: the
 * parish's outside its municipalities, a municipality's with the parish's part in it. The other
 * domiciles are districts of economic development, without a boundary.
 */
import type { DateInt } from '../../../tax/date.js';
import type { RateRow } from '../../model.js';
import {
  DATE_OPEN, joined, joinedCity, type ListContext, type ListResult, percentOf,
} from '../../rates/list.js';
import { pageText } from '../container.js';
import { listedDay } from '../sheet.js';

const PAGES = /(?=<select\b[^>]*\bid=["']ddlJurisdiction["'])/i;
const OPTION = /<option\b(?=[^>]*\bselected\b)[^>]*\bvalue=["']([^"']*)["'][^>]*>([^<]*)/i;
const TABLE = /<table\b[^>]*\bid=["']grdRates["'][^>]*>(.*?)<\/table>/is;
const ROW = /<tr\b[^>]*>(.*?)<\/tr>/gis;
const CELL = /<td\b[^>]*>(.*?)<\/td>/gis;
const DOMICILE = /^(.+?)\s*\((\d{4})\)$/;
const MUNICIPALITY = /^(?:(?:city|town|village) of (.+)|(.+?),? (?:city|town|village)(?: of)?)$/i;
const CELLS = 5;

interface Parish {
  readonly name: string;
  readonly county: string;
  readonly from: DateInt;
}

/** The option that is chosen in a list of a page, its value and its text. */
function chosen(page: string, id: string): readonly [string, string] {
  const list = new RegExp(`<select\\b[^>]*\\bid=["']${id}["'][^>]*>(.*?)</select>`, 'is');
  const [, value, text] = OPTION.exec(list.exec(page)?.[1] ?? '') ?? [];
  if (value === undefined) throw new RangeError(`its layout is another: nothing chosen in ${id}`);
  return [value, pageText(text ?? '')];
}

function rowOf(
  cells: readonly string[], parish: Parish, context: ListContext,
): RateRow | null {
  const { gazetteer, state, source, report } = context;
  const [, name, code] = DOMICILE.exec(cells[0] ?? '') ?? [];
  if (cells.length !== CELLS || name === undefined || code === undefined) {
    throw new RangeError(`${parish.name}: a row of another layout: ${cells.join(' | ')}`);
  }
  report.read += 1;
  const { from, county } = parish;
  const rate = percentOf((cells[1] ?? '').replace(/%$/, ''), `${parish.name}: ${name}`);
  const common = {
    state, county, code: '', sales: rate, use: rate, from, to: DATE_OPEN, source, asOf: from,
  };
  const [, before, behind] = MUNICIPALITY.exec(name) ?? [];
  const city = before ?? behind;
  if (code.endsWith('00') && /\bparish\b/i.test(name)) {
    report.joined += 1;
    return { ...common, level: 'county', place: '', name, basis: 'own' };
  }
  if (city === undefined) {
    report.drop(`${name} (${code}) in ${parish.name}`, 'a district without a boundary');
    return null;
  }
  const place = joinedCity(context, city, gazetteer.city(state, city, county), county);
  return place === null ? null : { ...common, level: 'city', place, name: city, basis: 'sole' };
}

/** Reads the pages. @throws RangeError where one names no parish or month, or lists no rate. */
export function readLouisiana(text: string, context: ListContext): ListResult {
  const pages = text.split(PAGES).slice(1);
  if (pages.length === 0) throw new RangeError('its layout is another: no list ddlJurisdiction');
  const rows = pages.flatMap((page) => {
    const name = chosen(page, 'ddlJurisdiction')[1].replace(/\s*\(\d{4}\)$/, '');
    const from = listedDay(chosen(page, 'ddlFilingPeriod')[0], name);
    const county = joined(context, name, context.gazetteer.county(context.state, name));
    const table = TABLE.exec(page)?.[1] ?? '';
    const listed = [...table.matchAll(ROW)].map(([, row = '']) =>
      [...row.matchAll(CELL)].map(([, cell = '']) => pageText(cell)))
      .filter((cells) => cells.length > 0);
    if (listed.length === 0) throw new RangeError(`${name}: no table grdRates with rates`);
    return county === null ? []
      : listed.map((cells) => rowOf(cells, { name, county, from }, context));
  });
  return { rows: rows.filter((row) => row !== null), members: [] };
}
