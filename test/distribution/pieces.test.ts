/** Pieces of a release that is pushed while what is not needed is removed. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { releasesDir } from '../../src/dataset/release.js';
import { type Place, PlaceError, type Versioned } from '../../src/distribution/fleet-place.js';
import { piecesOf, pushRelease, removePieces } from '../../src/distribution/pieces.js';
import { changeState, type Offer } from '../../src/distribution/state.js';
import { writeRelease } from '../../src/ingest/release-writer.js';
import { tinyContent } from '../support/tiny-release.js';

const quiet = (): void => undefined;
let top: string;
let dataset: string;

before(async () => {
  top = mkdtempSync(join(tmpdir(), 'situs-pieces-'));
  dataset = await writeRelease(top, tinyContent(50), quiet);
});

after(() => rmSync(top, { recursive: true, force: true }));

class MemoryPlace implements Place {
  readonly name = 'a place';
  readonly nodes = null;
  readonly pieces = new Map<string, Uint8Array>();
  #text: string | null = null;
  #version = 0;
  /** Run once: before the document is replaced, or after a piece was removed. */
  beforeReplace = (): void => undefined;
  afterRemove = (): Promise<unknown> => Promise.resolve();

  async read(known: string | null): Promise<Versioned | 'same' | null> {
    if (this.#text === null) return null;
    const version = String(this.#version);
    return known === version ? 'same' : { text: this.#text, version };
  }

  async replace(text: string, version: string | null): Promise<boolean> {
    this.beforeReplace();
    if (version !== (this.#text === null ? null : String(this.#version))) return false;
    this.#text = text;
    this.#version += 1;
    return true;
  }

  async has(sum: string): Promise<boolean> {
    return this.pieces.has(sum);
  }

  async put(sum: string, bytes: Uint8Array): Promise<void> {
    this.pieces.set(sum, Uint8Array.from(bytes));
  }

  async get(sum: string): Promise<Uint8Array> {
    const found = this.pieces.get(sum);
    if (found === undefined) throw new PlaceError(`no piece ${sum}`);
    return found;
  }

  async remove(sum: string): Promise<void> {
    this.pieces.delete(sum);
    const { afterRemove } = this;
    this.afterRemove = () => Promise.resolve();
    await afterRemove();
  }

  async watch(): Promise<void> {}

  async close(): Promise<void> {}
}

async function push(place: Place): Promise<Offer> {
  const { releases } = await pushRelease({
    place,
    dir: join(releasesDir(top), dataset),
    dataset,
    temporary: join(top, 'packed'),
    by: 'me',
    pieceBytes: 256,
    packed: quiet,
    pushed: quiet,
  });
  return releases.at(-1)!;
}

/** The pieces of a release that the place lacks. */
async function lacking(place: MemoryPlace, offer: Offer): Promise<readonly string[]> {
  const { sums } = await piecesOf(place, offer);
  return sums.filter((sum) => !place.pieces.has(sum));
}

test('a release that is pushed again while its pieces are removed keeps the others', async () => {
  const place = new MemoryPlace();
  const offer = await push(place);
  await changeState(place, (state) => ({ ...state, releases: [] }));
  place.afterRemove = () => push(place);
  await removePieces(place, [offer]);
  assert.deepEqual(await lacking(place, offer), []);
  // With nothing in between, nothing is left.
  await changeState(place, (state) => ({ ...state, releases: [] }));
  await removePieces(place, [offer]);
  assert.deepEqual([...place.pieces.keys()], []);
});

test('pieces that were removed before a release is announced are sent again', async () => {
  const place = new MemoryPlace();
  await push(place);
  place.beforeReplace = () => place.pieces.clear();
  const offer = await push(place);
  assert.deepEqual(await lacking(place, offer), []);
});
