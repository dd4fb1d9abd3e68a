import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  readMeals,
  type MealPlace,
  type MealTable,
  type MealTax,
} from '../../src/engine/product/meal-tax.js';
import { openWire } from '../../src/api/lookup/context.js';
import { cellsOf } from '../../src/engine/product/table-cells.js';
import { isFailure } from '../../src/failure.js';
import { ask } from '../lookup/ask.js';
import { amountsOf, cartOf, cartWorld, NOW, splitAt } from '../support/cart-world.js';
import { engineOf } from '../support/engine-of.js';
import { at, FACTS, place, shown, UNMAPPED } from '../support/meal-facts.js';
import {
  FACT_DOCUMENTS,
  FACT_STATES,
  type FactPlace,
  tableDocument,
} from '../support/product-facts.js';

test('state meal rates in place of the state sales tax', () => {
  const states: readonly (readonly [string, MealPlace, string])[] = [
    ['Maine', place('23', '005', '2360545'), '23=0.08'],
    ['New Hampshire', place('33', '011'), '33=0.085'],
    ['Vermont', place('50', '023', '5046000'), `50=0.09 ${UNMAPPED}`],
    ['District of Columbia', place('11', '001', '1150000'), '11=0.1'],
  ];
  for (const [name, where, expected] of states) {
    const meal = at(where);
    assert.equal(shown(meal), expected, name);
    assert.deepEqual(
      meal.rules.map((rule) => [rule.component, rule.replacesStateRate]),
      [['STATE_SPECIAL_TOTAL', true]],
      name,
    );
  }
});

test('add-ons of counties and cities, the widest jurisdiction first', () => {
  assert.equal(shown(at(place('37', '183', '3755000'))), `37183=0.01 ${UNMAPPED}`);
  const burlington = place('50', '007', '5010675');
  assert.equal(shown(at(burlington, FACTS, 20260630)), `50+5010675=0.115 ${UNMAPPED}`);
  assert.equal(shown(at(place('51', '510', '5101000'))), `51510=0.05 ${UNMAPPED}`);
  assert.equal(shown(at(place('09', '001', '0908000'))), '09=0.01');
  const omaha = at(place('31', '055', '3137000'));
  assert.equal(shown(omaha), `3137000=0.025 ${UNMAPPED}`);
  assert.equal(omaha.rules[0]?.component, 'OCCUPATION_TAX');
});

test('a tax whose rate has changed is told by the day', () => {
  const roanoke = place('51', '770', '5168000');
  assert.equal(shown(at(roanoke, FACTS, 20250630)), `51770=0.055 ${UNMAPPED}`);
  assert.equal(shown(at(roanoke, FACTS, 20250701)), `51770=0.065 ${UNMAPPED}`);
  assert.equal(shown(at(roanoke, FACTS, 20270701)), `=none ${UNMAPPED}`);
});

test('a tax that was raised until a day is not known from the next', () => {
  const burlington = place('50', '007', '5010675');
  const on = (date: number): MealTax => at(burlington, FACTS, date);
  assert.equal(shown(on(20240731)), `5010675=0.02 ${UNMAPPED}`);
  assert.equal(shown(on(20240801)), `5010675=0.025 ${UNMAPPED}`);
  assert.equal(shown(on(20260701)), `50=0.09 ${UNMAPPED}`);
  // Of 2024 the city's rate is held, but not the state's.
  assert.deepEqual(
    [20240801, 20260630, 20260701].map((date) => on(date).complete),
    [false, true, false],
  );
});

test('rules are all that is levied where nothing narrower can levy another', () => {
  for (const [where, complete] of [
    [place('23', '005'), true],
    [place('18', '057'), true],
    [place('18', '057', '1810342'), false],
    [{ ...place('18', '057'), bordersHeld: false }, false],
    [place('51', '710', '5157000'), true],
    [place('45', '079', '4516000'), true],
    [place('17', '031', '1714000'), false],
    [place('12', '086'), false],
    [place('45', '079'), false],
    [{ ...place('45', '079', '4516000'), certain: false }, false],
  ] as const) {
    assert.equal(at(where).complete, complete, `${where.stateFips} ${where.placeGeoid}`);
  }
});

test('a place and the county subdivision of the same extent bear one census code', () => {
  assert.equal(shown(at(place('25', '017', '2501711000'))), `2511000=0.0075 ${UNMAPPED}`);
  const burlington = place('50', '007', '5000710675');
  assert.equal(shown(at(burlington, FACTS, 20260630)), `50+5010675=0.115 ${UNMAPPED}`);
  assert.equal(shown(at(place('25', '017', '2501711001'))), `=none ${UNMAPPED}`);
});

test('a tax on part of a city and localities that are not listed are unmapped', () => {
  assert.equal(shown(at(place('27', '053', '2743000'))), `=none ${UNMAPPED}`);
  assert.equal(shown(at(place('51', '059'))), `=none ${UNMAPPED}`);
});

test('a state without rules is not covered, a dataset without the table has not loaded any', () => {
  assert.equal(shown(at(place('48', '453', '4805000'))), '=none STATE_NOT_COVERED');
  assert.equal(shown(at(place(''))), '=none STATE_NOT_COVERED');
  assert.equal(shown(at(place('23'), null)), '=none RULES_NOT_LOADED');
});

test('a day before the first rule of a state is not covered either', () => {
  assert.equal(shown(at(place('23'), FACTS, 20130930)), '=none STATE_NOT_COVERED');
  assert.equal(shown(at(place('23'), FACTS, 20131001)), '23=0.08');
  assert.equal(shown(at(place('09', '001'), FACTS, 20190901)), '=none STATE_NOT_COVERED');
});

test('a tax that was read without its first day is not known for the years before', () => {
  const boston = place('25', '025', '2507000');
  assert.equal(shown(at(boston, FACTS, 20260101)), `2507000=0.0075 ${UNMAPPED}`);
  assert.equal(shown(at(boston, FACTS, 20251231)), '=none STATE_NOT_COVERED');
  const norfolk = place('51', '710', '5157000');
  assert.equal(shown(at(norfolk, FACTS, 20251231)), `=none ${UNMAPPED}`);
});

test("an address known by its ZIP alone has the state's rules", () => {
  const unsure = { ...place('50', '007', '5010675'), certain: false };
  assert.equal(shown(at(unsure, FACTS, 20260630)), `50=0.09 LOCATION_NOT_RESOLVED,${UNMAPPED}`);
  assert.equal(shown(at({ ...place('23', '005'), certain: false })), '23=0.08');
});

const HEAD =
  'component_type\tjurisdiction_code\tjurisdiction_name\tjurisdiction_type\textent\trate' +
  '\treplaces_state_rate\tsourcing_basis\ttax_name\teffective_from\teffective_to\n';

/** A table of invented rules: code, rate, first day, last day, tax. */
function table(...rows: readonly (readonly string[])[]): MealTable {
  const text =
    HEAD +
    rows
      .map(
        ([code = '', percent = '', from = '', to = '', tax = 'Tax']) =>
          `ADD_ON\t${code}\tName\tTYPE\twhole\t${percent}\tno\tDESTINATION\t${tax}\t${from}\t${to}\n`,
      )
      .join('');
  return readMeals(cellsOf(tableDocument(text), 'meal-tax') ?? []);
}

test('rules hold from their first to their last day', () => {
  const dated = table(['97001', '0.01', '20200101', '20221231'], ['97001', '0.02', '20230101', '']);
  const on = (date: number): string => shown(at(place('97', '001'), dated, date));
  assert.equal(on(20191231), '=none STATE_NOT_COVERED');
  assert.equal(on(20200101), '97001=0.01');
  assert.equal(on(20221231), '97001=0.01');
  assert.equal(on(20230101), '97001=0.02');
});

test('a tax that has ended is none, one not begun is unknown where it will hold', () => {
  const both = table(['97', '0.01', '20200101', '20201231'], ['97003', '0.02', '20250101', '']);
  assert.equal(shown(at(place('97', '001'), both, 20220101)), '=none');
  assert.equal(shown(at(place('97', '003'), both, 20220101)), `=none ${UNMAPPED}`);
});

test("a city's tax cannot be told where no city borders are held", () => {
  const city = table(['9712345', '0.01']);
  const outside = place('97', '001');
  assert.equal(shown(at(outside, city)), '=none');
  assert.equal(shown(at({ ...outside, bordersHeld: false }, city)), `=none ${UNMAPPED}`);
  const inside = { ...place('97', '001', '9712345'), bordersHeld: false };
  assert.equal(shown(at(inside, city)), '9712345=0.01');
});

test('a county subdivision is one of its county', () => {
  const town = table(['9700112345', '0.01']);
  assert.equal(shown(at(place('97', '001', '9700112345'), town)), '9700112345=0.01');
  assert.equal(shown(at(place('97', '003', '9700312345'), town)), '=none');
});

test('a row that cannot be read is named', () => {
  assert.throws(() => table(['97', '0.01'], ['970', '0.01']), /row 2: bad jurisdiction_code "970"/);
  assert.throws(() => table(['97', '']), /bad rate ""/);
});

test('every row of the fact table belongs to a state', () => {
  const known = new Set(FACT_STATES.map(({ fips }) => fips));
  for (const [fips, rules] of FACTS) {
    assert.ok(known.has(fips), fips);
    for (const rule of rules) assert.ok(rule.name !== '' && rule.taxName !== '', rule.code);
  }
});

/** Midday in the United States of a day (YYYYMMDD). */
function noonOf(day: number): number {
  return Date.UTC(Math.floor(day / 10_000), (Math.floor(day / 100) % 100) - 1, day % 100, 18);
}

/** What an answer says of a meal. */
interface Body {
  readonly baseRates: readonly { readonly jurType: string; readonly rate: number }[];
  readonly productDetail: {
    readonly taxabilityCode: {
      readonly rateRules: readonly { readonly effectiveTaxRate: number }[];
      readonly specialRules: {
        readonly mealTax: {
          readonly rules: readonly {
            readonly componentType: string;
            readonly rate: number;
            readonly replacesStateRate: boolean;
          }[];
        };
      };
    };
  };
}

test('the documented sum of a meal is what a cart takes, wherever a meal tax is held', () => {
  const rows = FACT_DOCUMENTS.get('meal-tax') as readonly Readonly<Record<string, string>>[];
  const compared = new Set<string>();
  for (const { extent, jurisdiction_code: code = '', effective_to: last = '' } of rows) {
    const state = FACT_STATES.find(({ fips }) => fips === code.slice(0, 2))!.code;
    if (extent !== 'whole' || state === 'NH') continue;
    const place: FactPlace = {
      state,
      county: code.length === 2 || code.length === 7 ? '999' : code.slice(2, 5),
      placeGeoid: code.length > 5 ? code : '',
      percents: [
        ['state', '5'],
        ['county', '1'],
        ['city', '2'],
        ['district', '0.5'],
      ],
    };
    const dataset = cartWorld([place]);
    const at = splitAt(state, 0);
    // A tax that has ended is compared on its last day.
    const nowMs = last === '' ? NOW : Math.min(NOW, noonOf(Number(last)));
    const outcome = engineOf(dataset).calculate(cartOf(at, at, [['100', 1, '41000']]), nowMs);
    if (isFailure(outcome)) continue;
    compared.add(code);
    const { text } = ask(60, 'lat=10.5&lng=0.5&taxabilityCode=41000', {
      dataset,
      nowMs,
      context: openWire(),
    });
    const {
      baseRates,
      productDetail: { taxabilityCode },
    } = JSON.parse(text) as Body;
    const {
      rateRules: [rule],
      specialRules: {
        mealTax: { rules },
      },
    } = taxabilityCode;
    const ofSale = rules.filter(({ componentType }) => componentType !== 'OCCUPATION_TAX');
    const replaced = ofSale.some(({ replacesStateRate }) => replacesStateRate)
      ? baseRates.find(({ jurType }) => jurType === 'US_STATE_SALES_TAX')!.rate
      : 0;
    const rate = ofSale.reduce((sum, each) => sum + each.rate, rule!.effectiveTaxRate - replaced);
    assert.deepEqual([(rate * 100).toFixed(2)], amountsOf(outcome), `${state} ${code}`);
  }
  assert.ok(compared.size >= 20, `${compared.size} compared`);
  assert.ok(compared.has('5010675'), 'Burlington');
});
