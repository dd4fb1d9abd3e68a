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

const HEADER =
  'state\tlevel\tname\tcode\tfips\tcombined_pct\tlocal_pct\teffective_from\tas_of\tsource';
const AREAS = 'area\tcounty\tcity_code\tcounty_code\tspd_codes\ttransit_codes\tcombined_pct\tas_of';

/** Districts of Beta County's land outside cities; a gap where they cannot be told. */
function outside(areas: readonly string[], whole: readonly string[]): readonly string[] {
  const list = [
    HEADER,
    'XX\tcity\tCarrow\t2002010\t9900030\t\t1\t\t2024-08-30\ts',
    'XX\tcounty\tBeta County\t4002000\t99002\t\t0.5\t\t2024-08-30\ts',
    'XX\tdistrict\tBeta Health\t5002500\t\t\t0.5\t\t2024-08-30\ts',
    ...(areas.join().includes('5002519')
      ? ['XX\tdistrict\tBeta Rescue\t5002519\t\t\t0.5\t\t2024-08-30\ts']
      : []),
  ].join('\n');
  const { rows, members } = read('texas', list, { whole }, [], {
    areas: [AREAS, ...areas].join('\n'),
  });
  return [
    ...members.flatMap(({ code, county, place }) =>
      county === '99002' && place === '' ? [code] : [],
    ),
    ...brief(rows).filter((row) => row.startsWith('district 99002  ') && row.includes('unknown')),
  ];
}

const CITY = 'Carrow\tBeta\t2002010\t4002000\t5002500\t\t8.25\t2024-08-30';

test('texas: a district of all cities of a county may have its other land, which no area names', () => {
  const gap = outside([CITY], []);
  assert.equal(gap.length, 1);
  assert.match(gap.join(), /^district 99002 .*unknown/);
  assert.deepEqual(outside([CITY], ['5002500']), ['5002500']);
});

test('texas: of other districts land that no area names has none', () => {
  const mixed = 'Beulah\tBeta\t\t4002000\t5002500;5002519\t\t8.25\t2024-08-30';
  assert.match(outside([CITY, mixed], ['5002500']).join(), /unknown/);
  const even = 'Beulah\tBeta\t\t4002000\t5002500\t\t7.25\t2024-08-30';
  const both = `${CITY.replace('5002500', '5002500;5002519')}`;
  assert.deepEqual(outside([both, even], ['5002500']), ['5002500']);
});
