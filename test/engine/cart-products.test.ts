/** Products by the rules of states: what their tables say of an amount, kind by kind. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FactPlace } from '../support/product-facts.js';
import { calculated, cartOf, cartWorld, refused, splitAt, taxAt } from '../support/cart-world.js';

type Percents = NonNullable<FactPlace['percents']>;

test('insulin, gift cards and medicines: not taxed where the law says so', () => {
  const losAngeles: Percents = [
    ['state', '7.25'],
    ['county', '2.5'],
  ];
  assert.deepEqual(
    taxAt({ state: 'CA', percents: losAngeles }, [
      ['100', 1, '51050'],
      ['100', 1, '51060'],
      ['100', 1, '10005'],
      ['100', 1, '51135'],
    ]),
    ['0.00', '0.00', '0.00', '9.75'],
  );
  const newYork: Percents = [
    ['state', '4'],
    ['city', '4.5'],
    ['district', '0.375'],
  ];
  assert.deepEqual(
    taxAt({ state: 'NY', percents: newYork }, [
      ['100', 1, '10005'],
      ['100', 1, '51135'],
      ['100', 1, '93116'],
      ['100', 1, '30070'],
    ]),
    ['0.00', '0.00', '0.00', '8.88'],
  );
});

test('gym memberships in Arizona and warranties in Indiana: no tax of the state on them', () => {
  const phoenix: FactPlace = {
    state: 'AZ',
    percents: [
      ['state', '5.6'],
      ['city', '2.8'],
    ],
  };
  const at = splitAt('AZ', 0);
  const { detail } = refused(cartWorld([phoenix]), cartOf(at, at, [['100', 1, '91072']]));
  assert.match(detail ?? '', /local taxes in Arizona follow the state's rule for 91072 differs/);
  assert.deepEqual(taxAt({ state: 'AZ', percents: [['state', '5.6']] }, [['100', 1, '91072']]), [
    '0.00',
  ]);
  assert.deepEqual(taxAt({ state: 'IN', percents: [['state', '7']] }, [['100', 1, '93018']]), [
    '0.00',
  ]);
});

test('remote software: taxed in part in Texas, at 1 % for business in Connecticut', () => {
  assert.deepEqual(
    taxAt(
      {
        state: 'TX',
        percents: [
          ['state', '6.25'],
          ['city', '2'],
        ],
      },
      [
        ['100', 1, '30070'],
        ['100', 1, '30050'],
        ['100', 1, '20012'],
      ],
    ),
    ['6.60', '8.25', '0.00'],
  );
  assert.deepEqual(
    taxAt({ state: 'CT', percents: [['state', '6.35']] }, [
      ['100', 1, '93205'],
      ['100', 1, '30100'],
    ]),
    ['1.00', '6.35'],
  );
  assert.deepEqual(taxAt({ state: 'PA', percents: [['state', '6']] }, [['100', 1, '93205']]), [
    '6.00',
  ]);
  assert.deepEqual(taxAt({ state: 'NJ', percents: [['state', '6.625']] }, [['100', 1, '93205']]), [
    '0.00',
  ]);
});

test('food: candy and soft drinks apart where the law sets them apart', () => {
  const tennessee: Percents = [
    ['state', '7'],
    ['county', '2.25'],
  ];
  assert.deepEqual(
    taxAt({ state: 'TN', percents: tennessee }, [
      ['100', 1, '40030'],
      ['100', 1, '40050'],
      ['100', 1, '40010'],
      ['100', 1, '40020'],
    ]),
    ['6.25', '6.25', '9.25', '9.25'],
  );
  assert.deepEqual(
    taxAt({ state: 'DC', percents: [['state', '6']] }, [
      ['100', 1, '40030'],
      ['100', 1, '40010'],
      ['100', 1, '40050'],
    ]),
    ['0.00', '0.00', '8.00'],
  );
  assert.deepEqual(
    taxAt({ state: 'TX', percents: [['state', '6.25']] }, [
      ['100', 1, '40010'],
      ['100', 1, '40060'],
    ]),
    ['6.25', '0.00'],
  );
  // What DeKalb County's districts levy on food they levy on candy too.
  assert.deepEqual(
    taxAt(
      {
        state: 'GA',
        percents: [
          ['state', '4'],
          ['county', '3'],
        ],
      },
      [
        ['100', 1, '40010'],
        ['100', 1, '40030'],
      ],
    ),
    ['3.00', '3.00'],
  );
});

test("clothing covers the shoes and the children's clothes below it", () => {
  for (const state of ['PA', 'MN', 'NJ', 'VT']) {
    assert.deepEqual(
      taxAt({ state, percents: [['state', '6']] }, [
        ['100', 1, '20013'],
        ['100', 1, '92062'],
        ['100', 1, '20020'],
      ]),
      ['0.00', '0.00', '6.00'],
      state,
    );
  }
  assert.deepEqual(
    taxAt({ state: 'MA', percents: [['state', '6.25']] }, [
      ['175', 1, '20013'],
      ['275', 1, '92062'],
    ]),
    ['0.00', '6.25'],
  );
  const newYork = { state: 'NY', county: '061', placeGeoid: '3651000' };
  assert.deepEqual(
    taxAt(
      {
        ...newYork,
        percents: [
          ['state', '4'],
          ['city', '4.5'],
        ],
      },
      [
        ['109.99', 1, '20013'],
        ['110', 1, '20013'],
      ],
    ),
    ['0.00', '9.35'],
  );
});

test('Virginia: hygiene at the local 1 %, half of a maintenance contract', () => {
  assert.deepEqual(
    taxAt(
      {
        state: 'VA',
        percents: [
          ['state', '4.3'],
          ['county', '1'],
        ],
      },
      [
        ['100', 1, '51175'],
        ['100', 1, '20012'],
        ['100', 1, '93018'],
      ],
    ),
    ['1.00', '1.00', '2.65'],
  );
});

test('a rule of low confidence and the conditions of a law stand in the explanation', () => {
  const at = splitAt('IA', 0);
  const dataset = cartWorld([{ state: 'IA', percents: [['state', '6']] }]);
  const outcome = calculated(
    dataset,
    cartOf(
      at,
      at,
      [
        ['100', 1, '30070'],
        ['100', 1, '93103'],
      ],
      { explain: true },
    ),
  );
  const [remote, games] = outcome.lines.map(({ explain }) => explain?.rules[0]);
  assert.match(
    remote?.why ?? '',
    /; condition: business use by a commercial enterprise is exempt$/,
  );
  assert.match(games?.why ?? '', /; low confidence: check the law before relying on it$/);
  assert.match(remote?.source?.citation ?? '', /Iowa Code section 423\.2/);
});

test('a rule of the state that no cart applies stands in the explanation', () => {
  const told = (state: string): readonly string[] => {
    const at = splitAt(state, 0);
    const {
      lines: [line],
    } = calculated(
      cartWorld([{ state, percents: [['state', '5']] }]),
      cartOf(at, at, [['100']], { explain: true }),
    );
    return (line?.explain?.rules ?? [])
      .filter(({ rule }) => rule === 'not supported')
      .map(({ applied, why, source }) => `${applied} ${why} (${source?.citation})`);
  };
  assert.match(told('ND').join(), /^false the most that cities and counties take .*Refund/);
  assert.match(told('AR').join(), /\$2,500 of a motor vehicle.*26-73-301/);
  assert.match(told('SC').join(), /no product code names.*12-36-2110/);
  assert.match(told('NC').join(), /at most \$1,500 .*105-164\.4/);
  assert.deepEqual(told('OH'), []);
});
