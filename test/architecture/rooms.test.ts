/** The tables of rooms in docs/architecture.md say of the source what holds. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { importsOf, LAYERS, layer, packageRoot, target } from '../support/http-source-rules.js';

const ROOT = packageRoot(dirname(fileURLToPath(import.meta.url)));
const PAGE = readFileSync(join(ROOT, 'docs', 'architecture.md'), 'utf8');

/** Cells of the rows of a table, which begins with these words. */
function rowsOf(heading: string): readonly (readonly string[])[] {
  const start = PAGE.indexOf(heading);
  assert.ok(start >= 0, heading);
  const [table = ''] = PAGE.slice(start).split('\n\n');
  const rows = table.trim().split('\n').slice(2);
  assert.ok(rows.length > 5, heading);
  return rows.map((row) => row.split('|').slice(1, -1));
}

/** What a cell names in backquotes; a name without a folder is in that of the one before it. */
function namesOf(cell = ''): readonly string[] {
  let folder = '';
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => {
    if (!name.includes('/')) return name.includes('.') || folder === '' ? name : folder + name;
    folder = name.slice(0, name.indexOf('/') + 1);
    return name;
  });
}

test('the table of rooms names every folder and file in the order that imports point in', () => {
  const rows = rowsOf('| Room | Is about').map(([cell]) =>
    namesOf(cell).map((name) => name.split('/')[0] ?? ''),
  );
  const levels = rows.map((units) => {
    const [level = -1, ...others] = new Set(units.map((unit) => layer(`src/${unit}`)));
    assert.deepEqual(others, [], units.join());
    return level;
  });
  assert.deepEqual(
    levels,
    [...levels].sort((one, other) => one - other),
  );
  assert.deepEqual([...new Set(rows.flat())].sort(), LAYERS.flat().sort());
});

/** The folders of a room, with those that they use. */
function usesOf(room: string): readonly (readonly [string, string])[] {
  const files = readdirSync(join(ROOT, 'src', room), { recursive: true })
    .map((name) => `src/${room}/${String(name)}`)
    .filter((path) => path.endsWith('.ts'));
  const folderOf = (path: string): string => dirname(path).slice('src/'.length);
  const uses = files.flatMap((path) =>
    importsOf(readFileSync(join(ROOT, path), 'utf8'))
      .filter((specifier) => specifier.startsWith('.'))
      .map((specifier) => folderOf(target(path, specifier)))
      .filter((other) => other.startsWith(`${room}/`) && other !== folderOf(path))
      .map((other) => `${folderOf(path)} ${other}`),
  );
  return [...new Set(uses)]
    .map((use) => use.split(' ') as [string, string])
    .filter(([from]) => from.includes('/'));
}

test('the table of what folders use of one another is whole and true', () => {
  const rooms = ['engine', 'api', 'bulk'];
  const stated = rowsOf('| Folder | Uses').flatMap(([folders, uses]) =>
    namesOf(folders).flatMap((from) => {
      const [room = ''] = from.split('/');
      return namesOf(uses).map((to) => `${from} uses ${to.includes('/') ? to : `${room}/${to}`}`);
    }),
  );
  const found = rooms.flatMap(usesOf).map(([from, to]) => `${from} uses ${to}`);
  assert.ok(found.length > 10);
  const asTold = new Set(stated);
  assert.deepEqual(
    found.filter((use) => !asTold.has(use)),
    [],
    'not told',
  );
  for (const use of found) asTold.delete(use);
  const folders = rowsOf('| Folder | Uses').flatMap(([cell]) => namesOf(cell));
  const there = rooms.flatMap((room) =>
    readdirSync(join(ROOT, 'src', room), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => `${room}/${name}`),
  );
  assert.deepEqual([...folders].sort(), there.sort());
  // A row may name, for several folders, what one of them uses.
  for (const use of asTold) {
    const [from = '', to = ''] = use.split(' uses ');
    const row = rowsOf('| Folder | Uses').find(([cell]) => namesOf(cell).includes(from));
    const others = namesOf(row?.[0]).filter((name) => found.includes(`${name} uses ${to}`));
    assert.ok(others.length > 0, use);
  }
});
