/** Product rules of layers over a recipe's table: its rows end where a rule of a layer begins. */
import { dayBefore } from '../../tax/date.js';
import { DATE_MIN, DATE_OPEN, dayAfter, formatDate, listDate } from '../rates/list.js';
import { formatRate } from '../../tax/rate.js';
import { type Layer, layerLabel } from './layer-files.js';
import type { LayerProduct } from './table.js';

/** A row of the product table by its columns. */
export type ProductRow = Readonly<Record<string, string>>;

const BETWEEN_CODES = ';';

function codesOf(row: ProductRow): readonly string[] {
  return (row['tic'] ?? '').split(BETWEEN_CODES).filter((tic) => tic !== '');
}

function day(date: number): string {
  return String(date).padStart(8, '0');
}

function rowOf({ name }: Layer, rule: LayerProduct): ProductRow {
  const { state, tics, taxable, rate, scope, condition, from, to, source, asOf } = rule;
  return {
    state, category: layerLabel(name), tic: tics.join(BETWEEN_CODES), taxable,
    state_rate: rate === null ? '' : formatRate(rate), percent_taxable: '', threshold_usd: '',
    threshold_kind: '', scope, scope_basis: source, food_drug: 'no', covers_children: 'no',
    condition, effective_from: day(from), effective_to: to >= DATE_OPEN ? '' : day(to),
    citation: source, confidence: 'medium', source: layerLabel(name), as_of: day(asOf),
  };
}

/** What is left of a row of the table beside a rule: its other codes, and its other days. */
function leftOf(row: ProductRow, rule: LayerProduct): readonly ProductRow[] {
  const from = listDate(row['effective_from'] ?? '', DATE_MIN);
  const to = listDate(row['effective_to'] ?? '', DATE_OPEN);
  const hit = row['state'] === rule.state && from <= rule.to && to >= rule.from
    ? codesOf(row).filter((tic) => rule.tics.includes(tic)) : [];
  if (hit.length === 0) return [row];
  const others = codesOf(row).filter((tic) => !hit.includes(tic));
  const same = { ...row, tic: hit.join(BETWEEN_CODES) };
  return [
    ...(others.length > 0 ? [{ ...row, tic: others.join(BETWEEN_CODES) }] : []),
    ...(from < rule.from ? [{ ...same, effective_to: day(dayBefore(rule.from)) }] : []),
    ...(to > rule.to ? [{ ...same, effective_from: day(dayAfter(rule.to)) }] : []),
  ];
}

/**
 * The table with the rules of the layers, and what each of them replaced.
 * @throws Error with the rows of codes that the catalogue `tics` lacks, and of states it lacks.
 */
export function withProducts(
  rows: readonly ProductRow[], layers: readonly Layer[], tics: ReadonlySet<string>,
  states: ReadonlySet<string>,
): { readonly rows: readonly ProductRow[]; readonly lines: readonly string[] } {
  let table = rows;
  const lines: string[] = [];
  for (const layer of layers) {
    for (const rule of layer.products) {
      for (const tic of rule.tics) {
        if (!tics.has(tic)) layer.faults.add(rule.line, 'tic', `the catalogue has no code ${tic}`);
      }
      if (!states.has(rule.state)) {
        layer.faults.add(rule.line, 'state', `"${rule.state}" is no state of the recipe`);
      }
      const left = table.flatMap((row) => leftOf(row, rule));
      const replaced = table.filter((row) => !left.includes(row));
      lines.push(`layer ${layer.name}: ${layer.faults.file} line ${rule.line}: ${rule.state} `
        + `${rule.tics.join(', ')} taxable ${rule.taxable} from ${formatDate(rule.from)}`
        + (replaced.length === 0 ? ' is new' : ` replaces ${replaced.map((row) =>
          `${row['category'] ?? ''} (taxable ${row['taxable'] ?? ''})`).join(', ')}`));
      table = [...left, rowOf(layer, rule)];
    }
    layer.faults.settle();
  }
  return { rows: table, lines };
}
