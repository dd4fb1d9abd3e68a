/** Readers by the name recipes call them. */
import { readAuthority } from '../source/rates-authority.js';
import { readCdtfa } from '../source/rates-cdtfa.js';
import { readCoded } from '../source/rates-coded.js';
import { readColorado } from '../source/rates-colorado.js';
import { readEstimated } from '../source/rates-estimated.js';
import { readIllinois } from '../source/rates-illinois.js';
import { readProvinces, readStateRates } from '../source/rates-state.js';
import { readSst } from '../source/rates-sst.js';
import { readSstDerived } from '../source/rates-sst-derived.js';
import { readTexas } from '../source/rates-texas.js';
import { readTownOption } from '../source/rates-town-option.js';
import { readWaDor } from '../source/rates-wa-dor.js';
import { readZipTable } from '../source/rates-zip-table.js';
import type { RateReader } from './list.js';

/** One reader for each publisher's format. */
export const RATE_READERS: ReadonlyMap<string, RateReader> = new Map([
  ['authority', readAuthority],
  ['cdtfa', readCdtfa],
  ['coded', readCoded],
  ['colorado', readColorado],
  ['estimated', readEstimated],
  ['illinois', readIllinois],
  ['provinces', readProvinces],
  ['sst', readSst],
  ['sst-derived', readSstDerived],
  ['state-rates', readStateRates],
  ['texas', readTexas],
  ['town-option', readTownOption],
  ['wa-dor', readWaDor],
  ['zip-table', readZipTable],
]);
