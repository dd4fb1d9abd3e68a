/** Texas's list: a district that is said to have all of its county outside the cities. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { brief, read } from '../support/listed-rates.js';

test('texas: a district that is whole has all that cities leave of its county', () => {
  const list = [
    'state\tlevel\tname\tcode\tfips\tcombined_pct\tlocal_pct\teffective_from\tas_of\tsource',
    'XX\tdistrict\tBeta Asst Dist\t5002500\t\t\t1.25\t\t2024-08-30\ts',
  ].join('\n');
  const areas = [
    'area\tcounty\tcity_code\tcounty_code\tspd_codes\ttransit_codes\tcombined_pct\tas_of',
    '\tBeta\t\t\t5002500\t\t7.5\t2024-08-30',
  ].join('\n');
  const held = (whole: readonly string[]): readonly string[] => {
    const { rows, members } = read('texas', list, { whole }, [], { areas });
    return [
      ...members.map(({ code, county, place }) => `${code} ${county} ${place}`),
      ...brief(rows).filter((row) => row.includes('unknown')),
    ];
  };
  assert.match(held([]).join(), /district 99002 .*unknown/, 'land without a local tax has no area');
  assert.ok(held(['5002500']).includes('5002500 99002 '));
  assert.doesNotMatch(held(['5002500']).join(), /district 99002/);
});
