/** Sales-tax holidays as the oracle reads them from their tables. */
import type { OracleWorld } from './cart-oracle.js';
import { cell, type Row } from './oracle-row.js';
import { compare, rational, type Rational } from './rational.js';

/** What a holiday's categories say of a code: yes, unclear, or nothing. */
function covers(world: OracleWorld, row: Row, tic: string): string {
  const said = cell(row, 'categories').split(';').map((category) => {
    const codes = world.table('holiday-categories', '')
      .filter((each) => cell(each, 'category') === category);
    const own = codes.find((each) => cell(each, 'tic') === tic)
      ?? codes.find((each) => cell(each, 'tic') === '*');
    return own === undefined ? 'no' : cell(own, 'covers');
  });
  return ['yes', 'unclear'].find((word) => said.includes(word)) ?? 'no';
}

/** The first holiday that covers an item; what is unclear counts after what is said. */
export function holidayOn(
  world: OracleWorld, state: string, date: number,
  { tic, price }: { readonly tic: string; readonly price: Rational },
): Row | 'unclear' | null {
  let unclear = false;
  for (const row of world.table('holidays', state)) {
    if (cell(row, 'state') !== state) continue;
    if (Number(cell(row, 'starts_on')) > date || Number(cell(row, 'ends_on')) < date) continue;
    const said = covers(world, row, tic);
    if (said === 'no') continue;
    const limit = cell(row, 'max_item_usd');
    const side = limit === '' || cell(row, 'limits_held') === 'no' ? -1
      : compare(price, rational(limit));
    if (side > 0 || (side === 0 && cell(row, 'limit_kind') !== 'up_to')) continue;
    if (said === 'yes') return row;
    unclear = true;
  }
  return unclear ? 'unclear' : null;
}
