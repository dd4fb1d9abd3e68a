/** Zip archives and workbooks for tests, written by the published layouts (APPNOTE, ECMA-376). */
import { crc32, deflateRawSync } from 'node:zlib';

export interface Packed {
  readonly name: string;
  readonly data: string | Buffer;
}

/** What the headers say instead of the truth. */
export interface Lies {
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
  const last = String.fromCharCode(65 + column % 26);
  return column < 26 ? last : columnName(Math.floor(column / 26) - 1) + last;
}

/** A workbook of sheets by name; rows that are empty are left out, as Excel does. */
export function workbookOf(sheets: Readonly<Record<string, readonly (readonly CellValue[])[]>>): Buffer {
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
    data: `<worksheet><sheetData>${sheets[name]!.map((cells, row) => (cells.length === 0 ? ''
      : `<row r="${row + 1}">${cells.map((value, column) => cell(value, row + 1, column)).join('')}</row>`)).join('')}</sheetData></worksheet>`,
  }));
  const texts = shared.map((text) => `<si><r><t>${escaped(text)}</t></r><rPh><t>x</t></rPh></si>`);
  return zipOf([
    { name: 'xl/workbook.xml', data: `<workbook><sheets>${names.map((name, at) =>
      `<sheet name="${escaped(name)}" sheetId="${at + 1}" r:id="rId${at + 1}"/>`).join('')}</sheets></workbook>`.replace('<workbook>', '<workbook xmlns:r="r">') },
    { name: 'xl/_rels/workbook.xml.rels', data: `<Relationships>${names.map((_, at) =>
      `<Relationship Id="rId${at + 1}" Target="worksheets/sheet${at + 1}.xml"/>`).join('')}</Relationships>` },
    { name: 'xl/sharedStrings.xml', data: `<sst>${texts.join('')}</sst>` },
    ...parts,
  ]);
}
