/**
 * The list of a bundle's pieces: a line for what it is, one for the dataset, one with the bytes of
 * each piece but the last and of all, and one for the SHA-256 of each.
 */
import { checkedPiece, type Place, PlaceError } from './fleet-place.js';
import type { Offer } from './state.js';

const FIRST_LINE = 'situs dataset pieces 1';
const SHA256 = /^[0-9a-f]{64}$/;
/** One at a time is in memory, on either side; a transfer that is cut loses no more than one. */
export const PIECE_BYTES = 8_388_608;
/** Longest piece that is taken from others. */
export const PIECE_BYTES_MAX = 16_777_216;

export interface Pieces {
  /** Bytes of each but the last. */
  readonly each: number;
  readonly total: number;
  readonly sums: readonly string[];
}

/** The text of a list. */
export function listText(dataset: string, { each, total, sums }: Pieces): string {
  return `${[FIRST_LINE, dataset, `${each} ${total}`, ...sums].join('\n')}\n`;
}

/** Bytes of a piece by its number. */
export function pieceLength({ each, total }: Pieces, index: number): number {
  return Math.min(each, total - index * each);
}

/**
 * Gets the list of an offer.
 * @throws PlaceError where it is not the one that was pushed.
 */
export async function piecesOf(place: Place, { dataset, list, bytes }: Offer): Promise<Pieces> {
  const text = Buffer.from(await checkedPiece(place, list)).toString('latin1');
  const [first, name, sizes = '', ...sums] = text.replace(/\n$/, '').split('\n');
  const [each = 0, total = 0] = sizes.split(' ').map(Number);
  if (first === FIRST_LINE && name === dataset && total === bytes && Number.isInteger(each)
    && each > 0 && each <= PIECE_BYTES_MAX && sums.length === Math.ceil(total / each)
    && sums.every((sum) => SHA256.test(sum))) return { each, total, sums };
  throw new PlaceError(`the list of pieces of ${dataset} at ${place.name} is not one that this `
    + 'program reads');
}
