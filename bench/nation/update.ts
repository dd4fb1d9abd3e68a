/**
 * `npm run nation -- --update SS …`: publishes the synthetic nation on the loopback interface,
 * builds it with a first `situs dataset update`, moves some of the state's doors to new streets,
 * and measures `situs dataset update SS` as an operator calls it.
 *
 * No publisher in the catalogue has doors by state, so each state's doors are published, packed,
 * where its boundaries of places would be (`tiger-place`); boundary files are where the member
 * states publish them. Ranges are put into the folder of sources by hand, as the catalogue
 * requires.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  createReadStream,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { deserialize } from 'node:v8';
import { partsDir } from '../../src/ingest/part-cache.js';
import { readCatalogue } from '../../src/ingest/publisher/catalogue.js';
import { datasetsDir } from '../../src/ingest/source-files.js';
import type { ParseResult } from '../../src/ingest/street/parse-sources.js';
import { stateOf } from '../../src/ingest/street/shard.js';
import { zipOf } from '../../test/support/made-files.js';
import { BENCH_KEY, startSitus } from '../load/situs-server.js';
import type { NationFiles } from './nation.js';
import { ProcessTree } from './process-tree.js';

const CLI = fileURLToPath(new URL('../../src/cli.js', import.meta.url));
const PLACES = 'www2.census.gov/geo/tiger/TIGER2026/PLACE';
const BOUNDARIES = 'www.streamlinedsalestax.org/ratesandboundry/Boundary';
const MEMBER = 'doors.csv';
/** One in so many doors of the state is moved. */
const MOVED_EVERY = 311;
const NEW_STREET = 'Newbuilt Ln';
/** How many moved doors a server is asked for. */
const ASKED = 40;
/** Exit codes: everything was fetched, or everything except what these publishers do not have. */
const GOT: readonly (number | null)[] = [0, 3];

type Fields = Readonly<Record<string, unknown>>;

function jsonOf(name: string): Fields {
  return JSON.parse(readFileSync(join(datasetsDir(), 'recipes', name), 'utf8')) as Fields;
}

/** The entries of a list that do not come from the catalogue. */
function held(entries: unknown): readonly unknown[] {
  return (entries as readonly Fields[]).filter(
    ({ path }) => !String(path).startsWith('catalogue:'),
  );
}

/** The recipe `default` with the doors, ranges and boundary files of the nation. */
function writeRecipe(folder: string, { points, ranges, sst }: NationFiles): string {
  const [recipe, rates] = [jsonOf('default.json'), jsonOf('rates-default.json')];
  const path = join(folder, 'nation.json');
  const [{ file: _, ...doors } = { file: '' }] = points;
  writeFileSync(
    join(folder, 'nation-rates.json'),
    JSON.stringify({
      ...rates,
      lists: held(rates['lists']),
      stated: [],
    }),
  );
  writeFileSync(
    path,
    JSON.stringify({
      ...recipe,
      name: 'nation',
      rates: 'nation-rates.json',
      boundaries: held(recipe['boundaries']),
      points: [{ ...doors, state: '{state}', file: `catalogue:tiger-place/{state}!${MEMBER}` }],
      ranges,
      sst: sst.map((entry) => ({ ...entry, file: `catalogue:sst-boundaries/${entry.state}` })),
    }),
  );
  return path;
}

/** The path at which a state's doors are published. */
function doorsPath(mirror: string, state: string): string {
  const source = readCatalogue().find(({ name }) => name === 'tiger-place');
  const fips = source?.states.find((entry) => entry.startsWith(state))?.slice(3);
  return join(mirror, PLACES, `tl_2026_${fips}_place.zip`);
}

/** Publishes what is missing, and the doors of `changed` as they were. */
function publish(
  folder: string,
  mirror: string,
  { points, sst }: NationFiles,
  changed: string,
): void {
  for (const name of [PLACES, BOUNDARIES]) mkdirSync(join(mirror, name), { recursive: true });
  for (const { file, state } of points) {
    const path = doorsPath(mirror, state);
    if (state !== changed && existsSync(path)) continue;
    writeFileSync(path, zipOf([{ name: MEMBER, data: readFileSync(join(folder, file)) }]));
  }
  for (const { file, state } of sst) {
    const path = join(mirror, BOUNDARIES, `${state}B2026Q4AUG18.csv`);
    if (!existsSync(path)) linkSync(join(folder, file), path);
  }
}

/** Moves some doors of the state to new streets, and returns the addresses of some of them. */
function moveDoors(folder: string, mirror: string, state: string): readonly string[] {
  const rows = readFileSync(join(folder, `points/${state.toLowerCase()}.csv`), 'latin1').split(
    '\n',
  );
  const moved: string[] = [];
  for (let at = 1; at < rows.length - 1; at += MOVED_EVERY) {
    const fields = rows[at]!.split(',');
    fields[3] = NEW_STREET;
    rows[at] = fields.join(',');
    moved.push(`${fields[2]} ${NEW_STREET}, ${fields[5]}, ${state} ${fields[8]}`);
  }
  writeFileSync(doorsPath(mirror, state), zipOf([{ name: MEMBER, data: rows.join('\n') }]));
  process.stderr.write(`${state}: ${moved.length} of ${rows.length - 2} doors moved\n`);
  const every = Math.ceil(moved.length / ASKED);
  return moved.filter((_, at) => at % every === 0);
}

/** Serves the files below a folder; a directory becomes a page of links. */
async function serve(folder: string): Promise<Server> {
  const server = createServer(({ url = '', headers }, response) => {
    const path = join(folder, decodeURIComponent(url));
    const found = statSync(path, { throwIfNoEntry: false });
    if (found === undefined) response.writeHead(404).end();
    else if (found.isDirectory()) {
      response.end(
        readdirSync(path)
          .map((name) => `<a href="${name}">${name}</a>`)
          .join('\n'),
      );
    } else {
      const etag = `"${found.size}-${found.mtimeMs}"`;
      const same = headers['if-none-match'] === etag;
      response.writeHead(same ? 304 : 200, { ETag: etag, 'Content-Length': found.size });
      if (same) response.end();
      else createReadStream(path).pipe(response);
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

/** Runs an update as a process, and returns its times. */
async function update(varDir: string, words: readonly string[]): Promise<object> {
  const began = performance.now();
  const child = spawn(process.execPath, [CLI, 'dataset', 'update', ...words, '--yes', '--quiet'], {
    env: { ...process.env, SITUS_VAR: varDir },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const tree = new ProcessTree(child.pid!);
  createInterface({ input: child.stdout }).on('line', (line) => {
    tree.told(line);
    if (!line.startsWith('same ')) process.stderr.write(`  ${line}\n`);
  });
  const [code] = (await once(child, 'close')) as [number | null];
  tree.end();
  if (!GOT.includes(code)) throw new Error(`dataset update ended with ${code}`);
  const round = (value: number): number => Math.round(value * 10) / 10;
  const cpu = [...tree.steps.values()].reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0);
  return {
    seconds: round((performance.now() - began) / 1000),
    cpuSeconds: round(cpu),
    peakMiB: tree.peak,
    steps: Object.fromEntries(
      [...tree.steps].map(([name, { seconds, cpuSeconds }]) => [
        name,
        [round(seconds), round(cpuSeconds)],
      ]),
    ),
  };
}

/** Kept parts with the inode of their files, which changes when a part is made again. */
function partsIn(varDir: string): ReadonlyMap<string, number> {
  const folder = partsDir(varDir);
  return new Map(
    readdirSync(folder)
      .filter((name) => name.endsWith('.told'))
      .map((name) => [name, statSync(join(folder, name)).ino]),
  );
}

/** How many sources were read and runs built since, and the states of those sources. */
function madeSince(varDir: string, before: ReadonlyMap<string, number>): object {
  const made = [...partsIn(varDir)]
    .filter(([name, ino]) => before.get(name) !== ino)
    .map(([name]) => name);
  const read = made.filter((name) => name.startsWith('source-'));
  const states = read.flatMap((name) => {
    const { value } = deserialize(readFileSync(join(partsDir(varDir), name))) as {
      readonly value: ParseResult;
    };
    return value.segments.map(({ shard }) => stateOf(shard));
  });
  const count = (kind: string): number =>
    [...before.keys()].filter((name) => name.startsWith(kind)).length;
  return {
    sourcesRead: `${read.length} of ${count('source-')}`,
    ofStates: [...new Set(states)],
    runsBuilt: `${made.length - read.length} of ${count('run-')}`,
  };
}

/** How many of the addresses a server on this folder finds by their door. */
async function answeredByDoor(varDir: string, addresses: readonly string[]): Promise<string> {
  const server = await startSitus(varDir, {}, true);
  try {
    let found = 0;
    for (const address of addresses) {
      const answer = await fetch(
        `http://127.0.0.1:${server.port}/request/v60?address=` + encodeURIComponent(address),
        { headers: { 'X-API-KEY': BENCH_KEY } },
      );
      await answer.arrayBuffer();
      if (answer.headers.get('x-situs-precision') === 'point') found += 1;
    }
    return `${found} of ${addresses.length}`;
  } finally {
    await server.stop();
  }
}

/** Measures the update of one state below `folder`, which contains the nation's files. */
export async function measureUpdate(
  folder: string,
  files: NationFiles,
  state: string,
): Promise<object> {
  const [mirror, varDir] = [join(folder, 'publishers'), join(folder, 'var')];
  rmSync(varDir, { recursive: true, force: true });
  publish(folder, mirror, files, state);
  const sources = join(varDir, 'sources');
  mkdirSync(sources, { recursive: true });
  symlinkSync(join(folder, 'ranges'), join(sources, 'ranges'));
  const server = await serve(mirror);
  try {
    const words = [
      '--recipe',
      writeRecipe(folder, files),
      '--mirror',
      `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ];
    const first = await update(varDir, words);
    const moved = moveDoors(folder, mirror, state);
    const [parts, doorsBefore] = [partsIn(varDir), await answeredByDoor(varDir, moved)];
    const changed = await update(varDir, [state, ...words]);
    return {
      first,
      update: changed,
      ...madeSince(varDir, parts),
      doorsBefore,
      doorsAfter: await answeredByDoor(varDir, moved),
    };
  } finally {
    server.close();
  }
}
