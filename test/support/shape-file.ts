/** Shapefiles for tests, by the published layout (ESRI, July 1998; dBASE III). */

export type Line = readonly (readonly [lng: number, lat: number])[];

/** Kinds of shape. */
export const POLYLINE = 3;
export const POLYGON = 5;

/** A dBASE table of text columns, each `width` bytes wide; by default those of the first row. */
export function dbfOf(
  rows: readonly Readonly<Record<string, string>>[],
  names: readonly string[] = Object.keys(rows[0] ?? {}), width = 20,
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
  const body = rows.flatMap((row) => [Buffer.from(' '), ...names.map((name) => cell(row[name] ?? ''))]);
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
