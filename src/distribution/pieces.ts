/**
 * The list of a bundle's pieces, one item a line: what the file is, the dataset, the bytes of each
 * piece but the last and of all, and then the SHA-256 of each piece.
 */
import { rmSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { SHA256 } from '../base/patterns.js';
import { openBundle, packRelease } from '../dataset/bundle.js';
import { signersOf } from '../dataset/signature.js';
import type { BytesRead } from '../dataset/stamp.js';
import { checkedPiece, type Place, PlaceError, sumOf } from './fleet-place.js';
import { changeState, type FleetState, type Offer, readState, withOffer } from './state.js';

const FIRST_LINE = 'situs dataset pieces 1';
/** Both sides have one piece in memory at a time, and an interrupted transfer loses one at most. */
const PIECE_BYTES = 8_388_608;
/** Largest piece that is accepted of a list. */
const PIECE_BYTES_MAX = 16_777_216;

export interface Pieces {
  /** Bytes of every piece but the last. */
  readonly each: number;
  readonly total: number;
  readonly sums: readonly string[];
}

/** The text of a list. */
function listText(dataset: string, { each, total, sums }: Pieces): string {
  return `${[FIRST_LINE, dataset, `${each} ${total}`, ...sums].join('\n')}\n`;
}

/** Bytes of a piece by its number. */
export function pieceLength({ each, total }: Pieces, index: number): number {
  return Math.min(each, total - index * each);
}

/**
 * Gets the list of a release's pieces.
 * @throws PlaceError where it differs from the one that was pushed.
 */
export async function piecesOf(place: Place, { dataset, list, bytes }: Offer): Promise<Pieces> {
  const text = Buffer.from(await checkedPiece(place, list)).toString('latin1');
  const [first, name, sizes = '', ...sums] = text.replace(/\n$/, '').split('\n');
  const [each = 0, total = 0] = sizes.split(' ').map(Number);
  if (
    first === FIRST_LINE &&
    name === dataset &&
    total === bytes &&
    Number.isInteger(each) &&
    each > 0 &&
    each <= PIECE_BYTES_MAX &&
    sums.length === Math.ceil(total / each) &&
    sums.every((sum) => SHA256.test(sum))
  )
    return { each, total, sums };
  throw new PlaceError(
    `the list of pieces of ${dataset} at ${place.name} is not one that this ` + 'program reads',
  );
}

/** Puts releases into a place: the bundle of each, cut into pieces named by their SHA-256. */

interface Push {
  readonly place: Place;
  /** Folder of the release, which was checked before. */
  readonly dir: string;
  readonly dataset: string;
  /** Path for the bundle; no such file exists. It is removed at the end. */
  readonly temporary: string;
  readonly by: string;
  /** Bytes of each piece but the last; `PIECE_BYTES` unless given. */
  readonly pieceBytes?: number;
  /** Called with the bytes that are packed, then with those that are pushed. */
  readonly packed: BytesRead;
  readonly pushed: BytesRead;
}

/** Sends the pieces that the place lacks, and returns the list of all. */
async function pushPieces({
  place,
  temporary,
  pushed,
  pieceBytes: each = PIECE_BYTES,
}: Push): Promise<Pieces> {
  const total = statSync(temporary).size;
  const sums: string[] = [];
  const file = await open(temporary, 'r');
  try {
    for (let at = 0; at < total; at += each) {
      const length = Math.min(each, total - at);
      const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, at);
      if (bytesRead !== length) throw new Error(`${temporary} ended before its time`);
      const sum = sumOf(buffer);
      if (!(await place.has(sum))) await place.put(sum, buffer);
      sums.push(sum);
      pushed(at + length, total);
    }
  } finally {
    await file.close();
  }
  return { each, total, sums };
}

/**
 * Pushes a release and announces it; returns the new state. If it fails, the pieces that were
 * pushed stay, and the next push of the same bytes continues there.
 * @throws PlaceError where the place does not accept it.
 */
export async function pushRelease(push: Push): Promise<FleetState> {
  const { place, dir, dataset, temporary, by, packed } = push;
  // A place that cannot even be read is reported before the release is packed.
  await readState(place);
  try {
    await packRelease(dir, dataset, temporary, packed);
    const { files } = await openBundle(temporary);
    const list = Buffer.from(listText(dataset, await pushPieces(push)));
    const offer: Offer = {
      dataset,
      list: sumOf(list),
      bytes: statSync(temporary).size,
      unpacked: files.reduce((sum, { bytes }) => sum + bytes, 0),
      signedBy: signersOf(dir),
      at: new Date().toISOString(),
      by,
    };
    await place.put(offer.list, list);
    const announced = await changeState(place, (state) => withOffer(state, offer));
    // What was there before may have been removed until now, since no release needed it.
    await pushPieces({ ...push, pushed: () => undefined });
    if (!(await place.has(offer.list))) await place.put(offer.list, list);
    return announced;
  } finally {
    rmSync(temporary, { force: true });
  }
}

/** The pieces and lists of all releases that a place offers, as of each question. */
class NeededPieces {
  readonly #place: Place;
  #version: string | null = null;
  #sums: ReadonlySet<string> = new Set();

  constructor(place: Place) {
    this.#place = place;
  }

  async has(sum: string): Promise<boolean> {
    if ((await this.#place.read(this.#version)) !== 'same') await this.#read();
    return this.#sums.has(sum);
  }

  async #read(): Promise<void> {
    const { state, version } = await readState(this.#place);
    const sums = await Promise.all(
      state.releases.map(async (offer) => [
        offer.list,
        ...(await piecesOf(this.#place, offer)).sums,
      ]),
    );
    [this.#version, this.#sums] = [version, new Set(sums.flat())];
  }
}

/**
 * Removes the pieces of releases that the place does not offer, which is read before each removal.
 * Only a push that announces a release and looks for its pieces between the two misses one.
 */
export async function removePieces(place: Place, gone: readonly Offer[]): Promise<void> {
  const needed = new NeededPieces(place);
  for (const offer of gone) {
    if (await needed.has(offer.list)) continue;
    const { sums } = await piecesOf(place, offer);
    for (const sum of [...sums, offer.list]) {
      if (!(await needed.has(sum))) await place.remove(sum);
    }
  }
}
