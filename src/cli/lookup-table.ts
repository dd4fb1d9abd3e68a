/** An answer of the API as a table for people. */

interface Row {
  readonly jurName: string;
  readonly jurType: string;
  readonly rate: number;
}

interface Body {
  readonly metadata?: {
    readonly response: { readonly code: number; readonly message: string };
    readonly situs?: {
      readonly assumed?: {
        readonly lowest: number; readonly highest: number; readonly unknown?: true;
      };
      readonly border?: { readonly metres: number; readonly rate: number | null };
    };
  };
  readonly baseRates?: readonly Row[];
  readonly taxSummaries?: readonly { readonly summaryName: string; readonly rate: number }[];
  readonly addressDetail?: { readonly normalizedAddress: string; readonly incorporated: string };
  readonly results?: readonly Readonly<Record<string, string | number>>[];
}

/** A decimal fraction as a percentage without binary dust. */
function percent(rate: number): string {
  return `${Number((rate * 100).toFixed(7))} %`;
}

function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? '').length)));
  return rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column]!)).join('  ')
    .trimEnd()).join('\n');
}

function level(jurType: string): string {
  return jurType.replace(/^US_/, '').replace(/_(SALES|USE)_TAX$/, '').toLowerCase();
}

/** What makes the answer less than certain, in sentences. */
function doubts(
  { assumed, border }: NonNullable<NonNullable<Body['metadata']>['situs']>,
): readonly string[] {
  return [
    ...(assumed === undefined ? [] : ['assumed from the name of the city: the rate may be '
      + `${percent(assumed.lowest)} to ${percent(assumed.highest)} in this ZIP`
      + (assumed.unknown === true ? ', and that of a part is not known' : '')]),
    ...(border === undefined ? [] : [`${border.metres} metres from a line beyond which the rate is `
      + (border.rate === null ? 'not known' : percent(border.rate))]),
  ];
}

/** Formats a v60 body; `marks` tell how the location was found. */
export function lookupTable(text: string, marks: string, dataset: string): string {
  const body = JSON.parse(text) as Body;
  if (body.results !== undefined) {
    const header = ['city', 'county', 'state', 'sales', 'use'];
    const rows = body.results.map((row) => [
      String(row['geoCity']), String(row['geoCounty']), String(row['geoState']),
      percent(Number(row['taxSales'])), percent(Number(row['taxUse'])),
    ]);
    return `${table([header, ...rows])}\n\ndataset ${dataset}`;
  }
  const { response, situs } = body.metadata ?? { response: { code: 106, message: 'no answer' } };
  if (response.code !== 100) return `${response.code}: ${response.message}`;
  const rows = (body.baseRates ?? []).filter((row) => !row.jurType.endsWith('_USE_TAX'))
    .map((row) => [level(row.jurType), row.jurName, percent(row.rate)]);
  const total = body.taxSummaries?.[0];
  return [
    body.addressDetail?.normalizedAddress ?? '',
    '',
    table([...rows, ['total', '', percent(total?.rate ?? 0)]]),
    '',
    `${body.addressDetail?.incorporated === 'true' ? 'incorporated' : 'unincorporated'}; ` +
      `found by ${marks}; dataset ${dataset}`,
    ...doubts(situs ?? {}),
  ].join('\n');
}
