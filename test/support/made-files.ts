/**
 * Files as publishers have them, for tests, by the published layouts: zip archives and workbooks
 * (APPNOTE, ECMA-376), shapefiles (ESRI, dBASE III), PDFs of text (ISO 32000-1), shapes of GeoJSON.
 */
import { crc32, deflateRawSync } from 'node:zlib';

export interface Packed {
  readonly name: string;
  readonly data: string | Buffer;
}

/** What the headers say instead of the truth. */
interface Lies {
  readonly size?: number;
  readonly crc?: number;
  readonly flags?: number;
}

/** Fields from the version needed on, which both headers have. */
function fields(bytes: Buffer, packed: Buffer, name: Buffer, lies: Lies): Buffer {
  const head = Buffer.alloc(26);
  head.writeUInt16LE(20, 0);
  head.writeUInt16LE(lies.flags ?? 0x800, 2);
  head.writeUInt16LE(8, 4);
  head.writeUInt32LE(lies.crc ?? crc32(bytes), 10);
  head.writeUInt32LE(packed.length, 14);
  head.writeUInt32LE(lies.size ?? bytes.length, 18);
  head.writeUInt16LE(name.length, 22);
  return head;
}

/** Packs members. */
export function zipOf(members: readonly Packed[], lies: Lies = {}): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let at = 0;
  for (const { name: text, data } of members) {
    const bytes = Buffer.from(data);
    const packed = deflateRawSync(bytes);
    const name = Buffer.from(text);
    const head = fields(bytes, packed, name, lies);
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), head, name, packed]);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(at, 10);
    directory.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\0'), head, rest, name]));
    parts.push(local);
    at += local.length;
  }
  const end = Buffer.alloc(18);
  const central = Buffer.concat(directory);
  end.writeUInt16LE(members.length, 4);
  end.writeUInt16LE(members.length, 6);
  end.writeUInt32LE(central.length, 8);
  end.writeUInt32LE(at, 12);
  return Buffer.concat([...parts, central, Buffer.from('PK\x05\x06'), end]);
}

/** A cell: text is shared, a number stands as it is, null leaves the cell out. */
export type CellValue = string | number | null;

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}

function columnName(column: number): string {
  const last = String.fromCharCode(65 + (column % 26));
  return column < 26 ? last : columnName(Math.floor(column / 26) - 1) + last;
}

/** A workbook of sheets by name; rows that are empty are left out, as Excel does. */
export function workbookOf(
  sheets: Readonly<Record<string, readonly (readonly CellValue[])[]>>,
): Buffer {
  const shared: string[] = [];
  const cell = (value: CellValue, row: number, column: number): string => {
    if (value === null) return '';
    const place = `r="${columnName(column)}${row}"`;
    if (typeof value === 'number') return `<c ${place}><v>${value.toExponential(16)}</v></c>`;
    return `<c ${place} t="s"><v>${shared.push(value) - 1}</v></c>`;
  };
  const names = Object.keys(sheets);
  const parts = names.map((name, at) => ({
    name: `xl/worksheets/sheet${at + 1}.xml`,
    data: `<worksheet><sheetData>${sheets[name]!.map((cells, row) =>
      cells.length === 0
        ? ''
        : `<row r="${row + 1}">${cells.map((value, column) => cell(value, row + 1, column)).join('')}</row>`,
    ).join('')}</sheetData></worksheet>`,
  }));
  const texts = shared.map((text) => `<si><r><t>${escaped(text)}</t></r><rPh><t>x</t></rPh></si>`);
  return zipOf([
    {
      name: 'xl/workbook.xml',
      data: `<workbook><sheets>${names
        .map(
          (name, at) => `<sheet name="${escaped(name)}" sheetId="${at + 1}" r:id="rId${at + 1}"/>`,
        )
        .join('')}</sheets></workbook>`.replace('<workbook>', '<workbook xmlns:r="r">'),
    },
    {
      name: 'xl/_rels/workbook.xml.rels',
      data: `<Relationships>${names
        .map((_, at) => `<Relationship Id="rId${at + 1}" Target="worksheets/sheet${at + 1}.xml"/>`)
        .join('')}</Relationships>`,
    },
    { name: 'xl/sharedStrings.xml', data: `<sst>${texts.join('')}</sst>` },
    ...parts,
  ]);
}

/** Shapefiles for tests, by the published layout (ESRI, July 1998; dBASE III). */

export type Line = readonly (readonly [lng: number, lat: number])[];

/** Kinds of shape. */
export const POLYLINE = 3;
const POLYGON = 5;

/** A dBASE table of text columns, each `width` bytes wide; by default those of the first row. */
export function dbfOf(
  rows: readonly Readonly<Record<string, string>>[],
  names: readonly string[] = Object.keys(rows[0] ?? {}),
  width = 20,
): Buffer {
  const head = Buffer.alloc(33 + names.length * 32);
  head[0] = 3;
  head.writeUInt32LE(rows.length, 4);
  head.writeUInt16LE(head.length, 8);
  head.writeUInt16LE(1 + names.length * width, 10);
  names.forEach((name, index) => {
    head.write(name, 32 + index * 32, 'latin1');
    head.write('C', 32 + index * 32 + 11, 'latin1');
    head[32 + index * 32 + 16] = width;
  });
  head[head.length - 1] = 13;
  const cell = (text: string): Buffer => {
    const bytes = Buffer.alloc(width, ' ');
    bytes.write(text, 'utf8');
    return bytes;
  };
  const body = rows.flatMap((row) => [
    Buffer.from(' '),
    ...names.map((name) => cell(row[name] ?? '')),
  ]);
  return Buffer.concat([head, ...body, Buffer.from([26])]);
}

/** Shapes with one part each; rings of polygons go clockwise. */
export function shpOf(lines: readonly Line[], type = POLYGON): Buffer {
  const records = lines.map((line, index) => {
    const record = Buffer.alloc(8 + 48 + line.length * 16);
    record.writeInt32BE(index + 1, 0);
    record.writeInt32BE((record.length - 8) / 2, 4);
    record.writeInt32LE(type, 8);
    record.writeInt32LE(1, 44);
    record.writeInt32LE(line.length, 48);
    line.forEach(([lng, lat], vertex) => {
      record.writeDoubleLE(lng, 56 + vertex * 16);
      record.writeDoubleLE(lat, 64 + vertex * 16);
    });
    return record;
  });
  const head = Buffer.alloc(100);
  head.writeInt32BE(9994, 0);
  head.writeInt32BE((100 + records.reduce((sum, record) => sum + record.length, 0)) / 2, 24);
  head.writeInt32LE(1000, 28);
  head.writeInt32LE(type, 32);
  return Buffer.concat([head, ...records]);
}

/** PDFs of text for tests, by the published layout (ISO 32000-1): one font, text at its places. */

/** A piece of text, points from the left and from the bottom of its page. */
type PdfText = readonly [x: number, y: number, text: string];

/** Characters beyond ASCII, by the names that the font's encoding gives them. */
const NAMED: Readonly<Record<string, string>> = {
  '⅛': 'oneeighth',
  '¼': 'onequarter',
  '⅜': 'threeeighths',
  '½': 'onehalf',
  '⅝': 'fiveeighths',
  '¾': 'threequarters',
  '⅞': 'seveneighths',
  '–': 'endash',
  '’': 'quoteright',
};
const FIRST_NAMED = 128;

function hex(text: string): string {
  return [...text]
    .map((character) => {
      const named = Object.keys(NAMED).indexOf(character);
      const code = named < 0 ? character.charCodeAt(0) : FIRST_NAMED + named;
      return code.toString(16).padStart(2, '0');
    })
    .join('');
}

/** A PDF with a page for each list of texts. */
export function pdfOf(pages: readonly (readonly PdfText[])[]): Buffer {
  const differences = Object.values(NAMED)
    .map((name) => `/${name}`)
    .join(' ');
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Count ${pages.length} /Kids [${pages.map((_, at) => `${4 + at * 2} 0 R`).join(' ')}] >>`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding << /Type /Encoding ' +
      `/BaseEncoding /WinAnsiEncoding /Differences [${FIRST_NAMED} ${differences}] >> >>`,
    ...pages.flatMap((texts, at) => {
      const shown = texts
        .map(([x, y, text]) => `1 0 0 1 ${x} ${y} Tm <${hex(text)}> Tj`)
        .join('\n');
      const stream = `BT /F1 9 Tf ${shown} ET`;
      return [
        '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> ' +
          `/Contents ${5 + at * 2} 0 R >>`,
        `<< /Length ${stream.length} >>\nstream\n${stream}\nendstream`,
      ];
    }),
  ];
  let text = '%PDF-1.4\n';
  const places = objects.map((object, at) => {
    const place = text.length;
    text += `${at + 1} 0 obj\n${object}\nendobj\n`;
    return `${String(place).padStart(10, '0')} 00000 n \n`;
  });
  const table = `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${places.join('')}`;
  const trailer = `trailer << /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${text.length}\n%%EOF\n`;
  return Buffer.from(text + table + trailer, 'latin1');
}

/** A rectangle as GeoJSON has it, in degrees. */
export function rectangle(west: number, south: number, east: number, north: number): object {
  const ring = [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
    [west, south],
  ];
  return { type: 'Polygon', coordinates: [ring] };
}

/** All that comes of something that yields as it reads. */
export async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}
