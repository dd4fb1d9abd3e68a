/** What is read of each file of published/, and what is said where it has another layout. */
import type { ListOptions } from '../../src/ingest/rates/list.js';

/** Each change of the file, and what has to be said of it. */
type Fault = readonly [from: string | RegExp, to: string, told: RegExp];

interface Native {
  readonly file: string;
  readonly options?: ListOptions;
  readonly rows: readonly string[];
  readonly members?: readonly string[];
  readonly dropped?: number;
  readonly unmatched?: readonly string[];
  readonly unplaced?: readonly string[];
  readonly faults: readonly Fault[];
}

export const NATIVE: Readonly<Record<string, Native>> = {
  'ak-members': {
    file: 'ak-members.csv',
    rows: [
      'county 99001   own 0.03 20260401 99991231',
      'city  9900050  own 0.055 20260701 99991231',
      'city  9900010  own 0.04 20260901 99991231',
      'city  9900020  sole 0.025 20260901 99991231',
    ],
    unplaced: ['Nowhere'],
    faults: [
      ['As of 9/1/2026', 'Rates', /no "As of M\/D\/YYYY"/],
      ['0.07\n', '0.08\n', /row 6: 0.03 and 0.04 are not 0.08/],
      ['City/Taxing Area,', 'Town,', /column G is "Town", not "City\/Taxing Area"/],
      ['46266,0.07', '46x66,0.07', /row 6: not a day: 46x66/],
      ['9001,', ',', /row 6: without a filing code/],
    ],
  },
  'co-workbook': {
    file: 'co-workbook.csv',
    options: { state: '2.9', from: '2026-07-01', to: '2026-12-31' },
    rows: [
      'city 99001 9900010  own 0.0375 20260701 20261231',
      'district   ~Regional Transportation District - Alpha County own 0.01 20260701 20261231',
      'district   ~Scientific and Cultural Facilities District - Alpha County own 0.001 20260701 ' +
        '20261231',
      'county 99001   own 0.0025 20260701 20261231',
      'county 99002   own 0.02 20260701 20261231',
      'city 99002 9900050  own 0.015 20260701 20261231',
      'city 99002 9900030  unknown ? 10101 20261231',
      'city 99002 9900060  sole 0.031 20260701 20261231',
      'district 99001 9900020  unknown ? 10101 20261231',
      'district 99001 9900040  unknown ? 10101 20261231',
    ],
    members: [
      '~Regional Transportation District - Alpha County place 99001 9900010',
      '~Scientific and Cultural Facilities District - Alpha County place 99001 9900010',
      '~Regional Transportation District - Alpha County remainder 99001 ',
    ],
    unplaced: ['NOWHERE'],
    faults: [
      ['Tax Type,Rate,', 'Kind,Rate,', /column I is "Kind", not "Tax Type"/],
      ['100001', '1001', /row 2: ARDEN: no location with a code and a county: 1001/],
      ['CD,0.1', 'CD,x', /row 2: ARDEN: CD: not a percentage: x/],
      [
        'State,2.9,0,County,2,0,City,1.5',
        'County,2,0,City,1.5',
        /row 5: O'DELL: the state's part is not 0.029/,
      ],
      ['State,2.9,', 'State,0.029,', /row 2: ARDEN: the state's part is not 0.029/],
    ],
  },
  'ia-lost': {
    file: 'ia-lost.csv',
    rows: [
      'city 99002 9900050  sole 0.01 20060101 99991231',
      'city 99001 9900010  sole 0.01 20140701 20291231',
      'county 99001   own 0.01 20250701 20320630',
      'city 99001 9900020  sole 0 20260701 99991231',
      'county 99002   own 0 20260701 99991231',
    ],
    unplaced: ['Nowhere'],
    faults: [
      ['Effective Jul 1, 2026', 'Local option', /A1 is "Local option"/],
      ['Unincorporated LOST Rate', 'Rate', /column G is "Rate", not "Unincorporated LOST Rate"/],
      ['Arden,YES,NO', 'Arden,JA,NO', /row 4: Arden in Alpha: "JA" and "NO"/],
      ['NO,0.01,n/a,7%,41821', 'NO,n/a,n/a,7%,41821', /row 4: Arden in Alpha: not a rate: n\/a/],
      ['41821', '0', /row 4.*not a day: 0/],
    ],
  },
  'la-domiciles': {
    file: 'la-domiciles.html',
    rows: [
      'county 99001   own 0.0425 20260901 99991231',
      'city 99001 9900010  sole 0.055 20260901 99991231',
      'city 99001 9900020  sole 0.0525 20260901 99991231',
      'city 99002 9900050  sole 0.0445 20260901 99991231',
    ],
    unplaced: ['Nowhere'],
    dropped: 1,
    faults: [
      [/ selected="selected" value="0100"/, ' value="0100"', /nothing chosen in ddlJurisdiction/],
      ['4.2500%', 'n/a', /Alpha County: Alpha Parish: not a percentage: n\/a/],
      [
        '<td>Alpha Parish (0100)',
        '<td>Alpha Parish',
        /Alpha County: a row of another layout: Alpha Parish \|/,
      ],
      ['id="grdRates"', 'id="grid"', /Alpha County: no table grdRates with rates/],
    ],
  },
  'mo-tables': {
    file: 'mo-tables.csv',
    options: { state: '4.225', from: '2026-07-01' },
    rows: [
      'county 99001   total 0.05975 20260701 99991231',
      'county 99002   total 0.05225 20260701 99991231',
      'city  9900010  total 0.08975 20260701 99991231',
      'city 99001 9900020  total 0.07975 20260701 99991231',
      'city 99002 9900020  total 0.07225 20260701 99991231',
      'district 99002   unknown ? 10101 99991231',
    ],
    unmatched: ['NOWHERE'],
    dropped: 2,
    faults: [
      ['Jurisdiction Code', 'Code', /column C is "Code", not "Jurisdiction Code"/],
      ['5.9750%', '4.0%', /row 7: ALPHA COUNTY: a total below the state's part/],
      ['00010-001-000', '10-001', /row 9: no code: 10-001/],
      ['0.08975', 'x', /row 9: not a rate: x/],
    ],
  },
  'nm-grt': {
    file: 'nm-grt.csv',
    options: { state: '5.125', from: '2026-07-01' },
    rows: [
      'county 99001   total 0.0625 20260701 99991231',
      'county 99002   total 0.06375 20260701 99991231',
      'city  9900010  total 0.075 20260701 99991231',
      'city  9900050  total 0.08 20260701 99991231',
      'district 99002   unknown ? 10101 99991231',
    ],
    unmatched: ["O'Dell Industrial Park TIDD 1"],
    dropped: 2,
    faults: [
      ['6.25', '', /line 2: Remainder of County - Alpha: not a percentage/],
      ['01-100', '1100', /line 3: Arden: no location code: 1100/],
    ],
  },
  'ny-718': {
    file: 'ny-718.tsv',
    options: { state: '4' },
    rows: [
      'county 99002   total 0.08375 20250301 99991231',
      'county 99001   total 0.0875 20250301 99991231',
      'city  9900050  total 0.08875 20250301 99991231',
      'city  9900010  total 0.085 20250301 99991231',
    ],
    unmatched: ['Gamma'],
    unplaced: ['New York City', 'Nowhere'],
    faults: [
      ['Effective March', 'As of March', /no "Effective <day>"/],
      ['only\n1\t160\t688\t4', 'only\n1\t160\t688\t5', /"New York State only" is not 4 %/],
      ['4711', '0021', /code 0021 stands twice/],
    ],
  },
  'ok-copo': {
    file: 'ok-copo.csv',
    rows: [
      'county 99002   own 0.01 10101 99991231',
      'county 99001   own 0.005 20150701 20240930',
      'city 99001 9900010  own 0.0365 20200101 99991231',
      'county 99001   own 0.0025 20241001 99991231',
    ],
    unplaced: ['NOWHERE'],
    faults: [
      ['3.65%', '3.65', /row 3: ARDEN: not a percentage: 3.65/],
      ['STS,101,ARDEN,', 'STS,101,ARDEN,x,', /row 3: ARDEN: its layout is another: 14 fields/],
      ['STS,2001', 'STS,101', /row 5: NOWHERE: code 0101 is listed twice/],
      ['1/1/2020', '13/1/2020', /row 3: ARDEN: not a day: 13/],
      [/88,/g, '89,', /it lists no county/],
    ],
  },
  'sc-st575': {
    file: 'sc-st575.tsv',
    options: { state: '6' },
    rows: [
      'county 99001   total 0.07 20260205 99991231',
      'county 99002   total 0.07 20260205 99991231',
      'city  9900010  total 0.07 20260205 99991231',
      'city 99001 9900020  total 0.08 20260205 99991231',
      'city 99002 9900020  total 0.07 20260205 99991231',
      'district 99002   unknown ? 10101 99991231',
    ],
    unmatched: ['Nowhere'],
    faults: [
      ['(Rev. 2/5/26)', '', /no "\(Rev. M\/D\/YY\)"/],
      [
        '2\t36\t720\tMunicipality',
        '2\t36\t720\tCity',
        /no heading "Municipality" in its place on page 2/,
      ],
      ['370\t700\t7%', '300\t700\t7%', /page 1: "Arden" stands in no row/],
      ['8.5%', '5.5%', /Nowhere: a total below the state's part/],
    ],
  },
  'ut-combined': {
    file: 'ut-combined.csv',
    rows: [
      'county 99001   total 0.061 20261001 99991231',
      'county 99002   total 0.061 20261001 99991231',
      'city  9900010  total 0.0708 20261001 99991231',
      'city  9900050  total 0.061 20261001 99991231',
      'district 99002   unknown ? 10101 99991231',
    ],
    unmatched: ['Old Mill Resort'],
    faults: [
      ['Rates in effect as of', 'Rates of', /no "Rates in effect as of"/],
      ['Sales Rate', 'Total', /column Z is "Total", not "Sales Rate"/],
      ['0.0708', '0.0709', /row 6: Arden: its levies are not its total/],
      ['01-008', '1-8', /row 6: Arden: no code: 1-8/],
    ],
  },
};
