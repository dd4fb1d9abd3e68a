/**
 * Text of PDFs with its places, for lists that are published in no other form: one line a piece of
 * text, as page, points from the page's left, points from its bottom, and what it says, tabs
 * between; pages in order, lines from the top, pieces from the left.
 */
import { readFileSync } from 'node:fs';
import { splitRows } from './table-text.js';
import { fileError } from './zip.js';

/** Largest PDF; rate lists have some pages. */
const PDF_BYTES_MAX = 64 * 1_048_576;
/** Pieces within this distance are on one line, in points. */
const LINE_POINTS = 2;

export interface PdfCell {
  readonly page: number;
  readonly x: number;
  readonly y: number;
  readonly text: string;
}

/** What the parser gives: text with its matrix, or a mark without either. */
interface Piece {
  readonly str?: string;
  readonly transform?: readonly number[];
}

function inOrder(one: PdfCell, other: PdfCell): number {
  const below = other.y - one.y;
  return Math.abs(below) > LINE_POINTS ? below : one.x - other.x;
}

/**
 * Reads a PDF's text.
 * @throws Error with the file and the reason: no PDF, torn, locked, without text.
 */
export async function readPdf(file: string): Promise<string> {
  const bytes = readFileSync(file);
  if (bytes.toString('latin1', 0, 5) !== '%PDF-') throw fileError(file, 'it is no PDF');
  if (bytes.length > PDF_BYTES_MAX) {
    throw fileError(file, `it has more than ${PDF_BYTES_MAX} bytes`);
  }
  // Loaded only here, since the parser is large and only two lists need it.
  const { getDocumentProxy } = await import('unpdf');
  const cells: PdfCell[] = [];
  try {
    const document = await getDocumentProxy(new Uint8Array(bytes));
    for (let page = 1; page <= document.numPages; page += 1) {
      const { items } = await (await document.getPage(page)).getTextContent();
      const found = (items as readonly Piece[]).flatMap((piece): readonly PdfCell[] => {
        const text = (piece.str ?? '').replaceAll(/\s+/g, ' ').trim();
        const [, , , , x = 0, y = 0] = piece.transform ?? [];
        return text === '' ? [] : [{ page, x, y, text }];
      });
      cells.push(...found.sort(inOrder));
    }
    await document.destroy();
  } catch (error) {
    throw fileError(file, error);
  }
  if (cells.length === 0) throw fileError(file, 'it is a PDF without text');
  return cells
    .map(({ page, x, y, text }) => `${page}\t${x.toFixed(1)}\t${y.toFixed(1)}\t${text}\n`)
    .join('');
}

/** The pieces of such a text. @throws RangeError where the text has another form. */
export function pdfCells(text: string): readonly PdfCell[] {
  return splitRows(text, '\t').map(([page, x, y, said = '']) => {
    const cell = { page: Number(page), x: Number(x), y: Number(y), text: said };
    if (said !== '' && Number.isFinite(cell.x + cell.y)) return cell;
    throw new RangeError('its layout is another: this is no text of a PDF');
  });
}

/** The lines of such a text, with their pieces separated by blanks. */
export function pdfLines(cells: readonly PdfCell[]): readonly string[] {
  const lines: string[] = [];
  let last: PdfCell | null = null;
  for (const cell of cells) {
    const goesOn = last?.page === cell.page && Math.abs(last.y - cell.y) <= LINE_POINTS;
    if (goesOn) lines[lines.length - 1] += ` ${cell.text}`;
    else lines.push(cell.text);
    last = cell;
  }
  return lines;
}
