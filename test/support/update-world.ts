/**
 * A recipe of the invented country whose rates and doors come from sources of the catalogue, and
 * publishers that have them: a listing of archives (the published layout of Streamlined Sales Tax
 * files) and tables of doors behind a redirection.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { currentRelease } from '../../src/dataset/release.js';
import { datasetsDir } from '../../src/ingest/source-files.js';
import { CLI } from './built-dataset.js';
import { CommandProcess } from './command-process.js';
import { Publishers } from './publishers.js';
import type { Ran } from './run-command.js';
import { zipOf } from './made-files.js';

export const LISTING = '/www.streamlinedsalestax.org/ratesandboundry/Rates/';
/** Two sources that publish one table each; here they have doors. */
export const DOORS = '/comptroller.texas.gov/data/edi/sales-tax/taxrates.txt';
export const MORE_DOORS =
  '/tax.illinois.gov/content/dam/soi/en/web/tax/research/taxrates/' +
  'documents/salestaxrates/ordmache-current.txt';
/** A source that no program can get. */
export const BY_HAND = 'openaddresses';

/** A rate file: the state, Ash County, Elmton; fractions as text. */
export function rateFile(county: string, city: string): Buffer {
  const row = (type: string, code: string, rate: string): string =>
    `91,${type},${code},${rate},${rate},0,0,20200101,29991231\n`;
  return zipOf([
    {
      name: 'MNR.csv',
      data: row('45', '91', '0.05') + row('00', '001', county) + row('01', '00100', city),
    },
  ]);
}

function jsonOf(name: string): Record<string, unknown> {
  return JSON.parse(readFileSync(join(datasetsDir(), 'recipes', `${name}.json`), 'utf8')) as Record<
    string,
    unknown
  >;
}

export class UpdateWorld {
  readonly publishers = new Publishers();
  readonly dir = mkdtempSync(join(tmpdir(), 'situs-update-'));
  readonly varDir = join(this.dir, 'var');
  readonly sources = join(this.varDir, 'sources');
  readonly recipe = join(this.dir, 'recipe.json');
  readonly #commands = new CommandProcess();

  /** Starts the publishers; they have rates, and doors in two tables. */
  async start(): Promise<void> {
    const recipe = jsonOf('fixture');
    const doors = (key: string): object => ({
      file: `catalogue:${key}`,
      layout: 'openaddresses',
      source: key,
      state: 'QA',
    });
    mkdirSync(this.varDir);
    writeFileSync(
      this.recipe,
      JSON.stringify({
        ...recipe,
        name: 'update-test',
        rates: 'rates.json',
        points: [doors('tx-rates'), doors('il-rates'), doors(BY_HAND)],
      }),
    );
    const rates = jsonOf('rates-fixture');
    writeFileSync(
      join(this.dir, 'rates.json'),
      JSON.stringify({
        ...rates,
        lists: [
          ...(rates['lists'] as object[]),
          { reader: 'sst', path: 'catalogue:sst-rates/MN', source: 'sst-rates', state: 'QA' },
        ],
      }),
    );
    await this.publishers.start();
    this.publishFirst();
  }

  /** What the publishers have at first. */
  publishFirst(): void {
    this.publishers.list(LISTING, 'MNR2026Q3MAY18.zip', 'MNR2026Q4AUG18.zip');
    this.publishers.put(`${LISTING}MNR2026Q4AUG18.zip`, rateFile('0.02', '0.0125'));
    this.publishers.files.set(DOORS, { moved: '/moved/doors.txt' });
    this.putDoors(1);
    this.publishers.put(
      MORE_DOORS,
      this.#doors((at) => at % 2 === 1),
    );
  }

  /** Every second door of the fixture, from `from` on. */
  putDoors(from: number): void {
    this.publishers.put(
      '/moved/doors.txt',
      this.#doors((at) => at >= from && at % 2 === 0),
    );
  }

  #doors(has: (at: number) => boolean): string {
    const text = readFileSync(join(datasetsDir(), 'fixture', 'points.csv'), 'utf8');
    return text
      .split('\n')
      .filter((_, at) => at === 0 || has(at))
      .join('\n');
  }

  async stop(): Promise<void> {
    await this.#commands.end();
    this.publishers.stop();
    rmSync(this.dir, { recursive: true, force: true });
  }

  get active(): string | null {
    return currentRelease(this.varDir);
  }

  /** The words of an update with this recipe from these publishers. */
  words(...more: readonly string[]): readonly string[] {
    const {
      recipe,
      publishers: { mirror },
    } = this;
    return ['dataset', 'update', '--recipe', recipe, '--mirror', mirror, ...more];
  }

  spawn(words: readonly string[], varDir = this.varDir): ReturnType<typeof spawn> {
    return spawn(process.execPath, [CLI, ...words], {
      env: { ...process.env, SITUS_VAR: varDir },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
  }

  /** Runs a command to its end, in a process that runs those before and after it too. */
  run(words: readonly string[], varDir = this.varDir): Promise<Ran> {
    return this.#commands.run(words, { SITUS_VAR: varDir });
  }
}
