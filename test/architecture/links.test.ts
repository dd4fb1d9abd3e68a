/** Links between the pages of the documentation lead to files and headings that are there. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const PAGES = [
  'README.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  ...readdirSync(join(ROOT, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];

/** The names that readers of Markdown give to headings. */
function anchors(path: string): ReadonlySet<string> {
  const text = readFileSync(join(ROOT, path), 'utf8');
  return new Set(
    [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replace(/[^\p{L}\p{N}_\- ]/gu, '')
        .trim()
        .replaceAll(' ', '-'),
    ),
  );
}

for (const page of PAGES) {
  test(`links of ${page}`, () => {
    const text = readFileSync(join(ROOT, page), 'utf8');
    for (const [, link = ''] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^https?:/.test(link)) continue;
      const [file = '', anchor] = link.split('#');
      const path = file === '' ? page : normalize(join(dirname(page), file));
      assert.ok(existsSync(join(ROOT, path)), link);
      if (anchor !== undefined) assert.ok(anchors(path).has(anchor), link);
    }
  });
}

test('pages that are installed link to what is installed', () => {
  const { files } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    readonly files: readonly string[];
  };
  const left = new Set(files.filter((each) => each.startsWith('!')).map((each) => each.slice(1)));
  const isInstalled = (path: string): boolean =>
    path === 'README.md' ||
    (!left.has(path) && files.some((each) => path === each || path.startsWith(`${each}/`)));
  for (const page of PAGES.filter(isInstalled)) {
    const whole = readFileSync(join(ROOT, page), 'utf8');
    // What README.md names behind these words is told to be elsewhere.
    const [text = ''] = whole.split('\nIn the repository alone');
    for (const [, link = ''] of text.matchAll(/\]\(([^)\s#]+)[^)\s]*\)/g)) {
      if (/^https?:/.test(link)) continue;
      assert.ok(isInstalled(normalize(join(dirname(page), link))), `${page}: ${link}`);
    }
  }
});
