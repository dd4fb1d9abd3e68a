/** Where an address is, without its rates: they may be unknown where the place is not. */
import type { Dataset } from '../../dataset/dataset.js';
import type { AreaRecord } from '../../dataset/records.js';
import { fail, isFailure, type Failure } from '../../failure.js';
import type { DateInt } from '../../tax/date.js';
import { todayAt } from '../rate/state-day.js';
import type { Situs } from '../situs.js';
import { locateAddress } from './locator.js';

export interface Located {
  readonly situs: Situs;
  readonly area: AreaRecord;
}

/** Locates an address in a US state, its capital district included, at `nowMs`. */
export function locateInState(dataset: Dataset, address: string, nowMs: number): Located | Failure {
  const today = (state: string): DateInt => {
    const record = dataset.state(state);
    if (record === null) throw new Error(`the dataset has areas in ${state} but no such state`);
    return todayAt(record, nowMs);
  };
  const situs = locateAddress(dataset, address, today);
  if (isFailure(situs)) return situs;
  const area = dataset.area(situs.area);
  return area.country === 'USA' ? { situs, area } : fail('no-result', 'it is not in a US state');
}
