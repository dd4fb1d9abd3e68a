/**
 * Measures whether people in ZIPs live where the estimated land of the ZIP is: for each ZIP, the
 * share of doors in the area with the largest estimated share, beside that share. The estimate does
 * not use doors.
 */
import type { Dataset } from '../src/dataset/dataset.js';
import type { AreaRecord } from '../src/dataset/records.js';
import type { AddressPoint } from '../src/ingest/source/points.js';

const DOORS_MIN = 50;
const BANDS = 10;

/**
 * ZIPs whose largest area has an estimated share within one tenth: how many, and sums of their
 * shares.
 */
interface Band {
  zips: number;
  estimated: number;
  doors: number;
}

function nameOf({ placeName, countyFips }: AreaRecord): string {
  return placeName === '' ? countyFips : placeName;
}

function add(into: Map<string, number>, key: string, amount: number): void {
  into.set(key, (into.get(key) ?? 0) + amount);
}

function total(shares: ReadonlyMap<string, number>): number {
  let sum = 0;
  for (const share of shares.values()) sum += share;
  return sum;
}

/** Estimated shares of a ZIP by city, or by county outside cities. */
function estimates(dataset: Dataset, zip: number): ReadonlyMap<string, number> {
  const shares = new Map<string, number>();
  const record = dataset.zip(zip);
  for (const { area, doubt, land } of record?.parts ?? []) {
    add(shares, nameOf(dataset.area(doubt ?? area)), land ?? 0);
  }
  for (const { area, land } of record?.reach ?? []) add(shares, nameOf(dataset.area(area)), land);
  return shares;
}

/** Reads all doors of a source, and returns the comparison for each tenth. */
export async function measureShares(
  dataset: Dataset,
  points: AsyncIterable<AddressPoint>,
): Promise<readonly Band[]> {
  const doors = new Map<number, Map<string, number>>();
  for await (const { zip, lat, lng } of points) {
    const area = zip === '' ? -1 : dataset.cells.locate(lat, lng);
    if (area < 0) continue;
    let own = doors.get(Number(zip));
    if (own === undefined) doors.set(Number(zip), (own = new Map()));
    add(own, nameOf(dataset.area(area)), 1);
  }
  const bands = Array.from({ length: BANDS }, (): Band => ({ zips: 0, estimated: 0, doors: 0 }));
  for (const [zip, own] of doors) {
    const shares = estimates(dataset, zip);
    const [largest] = [...shares].sort((one, other) => other[1] - one[1]);
    if (largest === undefined || largest[1] === 0 || total(own) < DOORS_MIN) continue;
    const estimated = largest[1] / total(shares);
    const band = bands[Math.min(BANDS - 1, Math.floor(estimated * BANDS))]!;
    band.zips += 1;
    band.estimated += estimated;
    band.doors += (own.get(largest[0]) ?? 0) / total(own);
  }
  return bands;
}

/** Prints the bands. */
export function reportShares(source: string, bands: readonly Band[]): void {
  console.log(`shares: ${source}, the largest area of each ZIP`);
  for (const { zips, estimated, doors } of bands) {
    if (zips === 0) continue;
    const percent = (sum: number): string => `${((100 * sum) / zips).toFixed(1)} %`.padStart(8);
    console.log(
      `  ${String(zips).padStart(4)} ZIPs   estimated${percent(estimated)}` +
        `   of the doors${percent(doors)}`,
    );
  }
}
