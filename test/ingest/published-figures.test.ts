/** Pages that alone publish a figure: what they say, and that the facts hold the same. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { readCatalogue } from '../../src/ingest/publisher/catalogue.js';
import { unsaidIn } from '../../src/ingest/publisher/get.js';
import { datasetsDir } from '../../src/ingest/source-files.js';
import { pageText } from '../../src/ingest/source/container.js';
import { readTable } from '../../src/ingest/source/table-text.js';

test('text of a page: no tags, scripts and styles, entities read, blanks as one', () => {
  assert.equal(
    pageText(
      '<html><head><title>x</title></head><style>p{}</style>' +
        '<p>Idaho&rsquo;s&nbsp;rate' +
        '<br/>is\n <b>6</b>&#37; &amp; &#x36;% &unknown;</p><script>var rate = "7%"</script><!-- ' +
        '8% -->',
    ),
    'Idaho’s rate is 6 % & 6% &unknown;',
  );
  const idaho = readCatalogue().find(({ name }) => name === 'id-rates')!;
  const says = idaho.pages!.flatMap((page) => page.says);
  assert.deepEqual(
    unsaidIn(
      "IDAHO’S sales tax rate is 6%. Idaho's use tax rate is also 6%. " +
        'Some Idaho ' +
        'resort cities have a local sales tax in addition to the state sales tax.',
      says,
    ),
    [],
  );
  assert.deepEqual(unsaidIn('Idaho’s sales tax rate is 6.5%', says), says);
});

/** Percent of a fraction as pages write it. */
function percent(fraction: string): string {
  return String(Math.round(Number(fraction) * 1e7) / 1e5);
}

test('the rates held are those that the pages are asked for', () => {
  const folder = join(datasetsDir(), 'facts');
  const read = (path: string): ReturnType<typeof readTable> =>
    readTable(readFileSync(join(folder, path), 'utf8'), '\t');
  const held = [
    ...readdirSync(join(folder, 'rates'))
      .filter((name) => /^[A-Z]{2}\.tsv$/.test(name))
      .flatMap((name) => read(`rates/${name}`)),
    ...read('rate_additions.tsv'),
  ];
  const asked = readCatalogue().filter(
    ({ pages, levels }) => pages != null && levels.includes('state'),
  );
  assert.ok(asked.length >= 10);
  for (const { name, pages, states } of asked) {
    const says = pages!
      .flatMap((page) => page.says)
      .join('\n')
      .replaceAll('\\', '');
    const rate =
      held
        .filter(
          (row) => row.get('state') === states[0]!.slice(0, 2) && row.get('level') === 'state',
        )
        .at(-1)
        ?.get('sales') ?? '';
    // Hawaii's page adds the surcharge of its counties, and Alaska's names no figure.
    if (name === 'hi-rates' || name === 'ak-state') continue;
    assert.ok(says.includes(percent(rate)), `${name}: ${percent(rate)} in ${says}`);
  }
});
