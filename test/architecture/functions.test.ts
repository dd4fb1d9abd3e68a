/** No function is longer than a screen, as the compiler reads the source. */
import assert from 'node:assert/strict';
import { dirname, join, relative } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { FUNCTION_LINES_MAX, longFunctions } from '../support/function-lengths.js';
import { packageRoot } from '../support/http-source-rules.js';

const ROOT = packageRoot(dirname(fileURLToPath(import.meta.url)));

test(`no function has more than ${FUNCTION_LINES_MAX} lines`, () => {
  const found = longFunctions(join(ROOT, 'tsconfig.json')).map(
    ({ file, line, lines, name }) =>
      `${relative(ROOT, file)} ${name}: line ${line} has ${lines} lines`,
  );
  assert.deepEqual(found, []);
});

/** `count` lines of statements with everything that could be taken for a brace. */
function body(count: number): string {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text of a program
  const line = "  x = '}' + `}${'{'}` + String(/[}]/.test('')); // } /*";
  return `${line}\n`.repeat(count);
}

const CONFIG = '/program/tsconfig.json';

/** What is found in each text, each a file of one program. */
function check(...texts: readonly string[]): readonly (readonly string[])[] {
  const paths = texts.map((_, index) => `/program/${index}.ts`);
  const found = longFunctions(CONFIG, FUNCTION_LINES_MAX, {
    ...Object.fromEntries(paths.map((path, index) => [path, texts[index]!])),
    [CONFIG]: JSON.stringify({ compilerOptions: { noLib: true, types: [] }, files: paths }),
  });
  return paths.map((path) =>
    found
      .filter(({ file }) => file === path)
      .map(({ line, lines, name }) => `${line} ${lines} ${name}`),
  );
}

// The first and the last line of a function are lines of it.
const INSIDE = FUNCTION_LINES_MAX - 2;

const SHAPES: readonly (readonly [before: string, after: string, name: string])[] = [
  ['function named() {\n', '}\n', 'named'],
  ['export async function* named() {\n', '}\n', 'named'],
  ['const named = () => {\n', '};\n', 'named'],
  ['const named = function () {\n', '};\n', 'named'],
  ["test('a name', () => {\n", '});\n', ''],
  ['class A { method() {\n', '} }\n', 'method'],
  ['class A { static #hidden() {\n', '} }\n', '#hidden'],
  ['class A { get size() {\n', '} }\n', 'size'],
  ['class A { constructor() {\n', '} }\n', 'A'],
  ['const a = { property: () => {\n', '} };\n', 'property'],
  ['const a = { method() {\n', '} };\n', 'method'],
];

test('every shape of a function is measured from its first line to its last', () => {
  const fitting = check(...SHAPES.map(([before, after]) => before + body(INSIDE) + after));
  const long = check(...SHAPES.map(([before, after]) => before + body(INSIDE + 1) + after));
  for (const [index, [before, , name]] of SHAPES.entries()) {
    assert.deepEqual(fitting[index], [], before);
    assert.deepEqual(long[index], [`1 ${FUNCTION_LINES_MAX + 1} ${name}`], before);
  }
});

test('parameters count, comments above do not; one within another is found, a class is none', () => {
  const inner = `const inner = () => {\n${body(INSIDE + 1)}};\n`;
  const method = `m() {\n${body(INSIDE)}}\n`;
  assert.deepEqual(
    check(
      `function named(\n  one,\n  other,\n) {\n${body(INSIDE - 2)}}\n`,
      `/**\n * Says a lot.\n */\nfunction named() {\n${body(INSIDE)}}\n`,
      `function outer() {\n${inner}}\n`,
      `class A {\n${method}${method}}\n`,
    ),
    [['1 61 named'], [], ['1 63 outer', '2 61 inner'], []],
  );
});
