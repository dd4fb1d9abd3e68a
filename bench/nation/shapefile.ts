/**
 * Writes shapefiles of lines with text columns, one feature at a time, by the published layouts.
 */
import { closeSync, openSync, writeSync } from 'node:fs';

const SHP_HEAD_BYTES = 100;
const SHP_CODE = 9994;
const SHP_VERSION = 1000;
const POLYLINE = 3;
const LINE_HEAD_BYTES = 48;
const RECORD_HEAD_BYTES = 8;
const FLUSH_BYTES = 1 << 20;

type Line = readonly (readonly [lng: number, lat: number])[];

/** Writes a file in large pieces. */
export class PieceWriter {
  readonly #fd: number;
  #pieces: Buffer[] = [];
  #waiting = 0;
  bytes = 0;

  constructor(path: string) {
    this.#fd = openSync(path, 'w');
  }

  add(piece: Buffer): void {
    this.#pieces.push(piece);
    this.#waiting += piece.length;
    this.bytes += piece.length;
    if (this.#waiting > FLUSH_BYTES) this.#flush();
  }

  #flush(): void {
    const bytes = Buffer.concat(this.#pieces);
    for (let at = 0; at < bytes.length; ) at += writeSync(this.#fd, bytes, at);
    [this.#pieces, this.#waiting] = [[], 0];
  }

  /** Ends the file. A head, which is known only at the end, replaces the first bytes. */
  end(head?: Buffer): void {
    this.#flush();
    if (head !== undefined) writeSync(this.#fd, head, 0, head.length, 0);
    closeSync(this.#fd);
  }
}

interface Column {
  readonly name: string;
  readonly width: number;
}

/** Writes "NAME.shp" and "NAME.dbf". */
export class LineFileWriter {
  readonly #columns: readonly Column[];
  readonly #shp: PieceWriter;
  readonly #dbf: PieceWriter;
  #records = 0;

  constructor(path: string, columns: readonly Column[]) {
    this.#columns = columns;
    this.#shp = new PieceWriter(`${path}.shp`);
    this.#dbf = new PieceWriter(`${path}.dbf`);
    this.#shp.add(Buffer.alloc(SHP_HEAD_BYTES));
    this.#dbf.add(this.#dbfHead());
  }

  /** Adds a feature. Texts are in the order of the columns; longer ones are cut. */
  add(texts: readonly string[], line: Line): void {
    this.#records += 1;
    const row = this.#columns
      .map(({ width }, index) => (texts[index] ?? '').slice(0, width).padEnd(width))
      .join('');
    this.#dbf.add(Buffer.from(` ${row}`, 'latin1'));
    const record = Buffer.alloc(RECORD_HEAD_BYTES + LINE_HEAD_BYTES + line.length * 16);
    record.writeInt32BE(this.#records, 0);
    record.writeInt32BE((record.length - RECORD_HEAD_BYTES) / 2, 4);
    record.writeInt32LE(POLYLINE, RECORD_HEAD_BYTES);
    record.writeInt32LE(1, RECORD_HEAD_BYTES + 36);
    record.writeInt32LE(line.length, RECORD_HEAD_BYTES + 40);
    line.forEach(([lng, lat], vertex) => {
      const at = RECORD_HEAD_BYTES + LINE_HEAD_BYTES + vertex * 16;
      record.writeDoubleLE(lng, at);
      record.writeDoubleLE(lat, at + 8);
    });
    this.#shp.add(record);
  }

  end(): void {
    const head = Buffer.alloc(SHP_HEAD_BYTES);
    head.writeInt32BE(SHP_CODE, 0);
    head.writeInt32BE(this.#shp.bytes / 2, 24);
    head.writeInt32LE(SHP_VERSION, 28);
    head.writeInt32LE(POLYLINE, 32);
    this.#shp.end(head);
    this.#dbf.add(Buffer.from([0x1a]));
    this.#dbf.end(this.#dbfHead());
  }

  #dbfHead(): Buffer {
    const head = Buffer.alloc(33 + this.#columns.length * 32);
    head[0] = 3;
    head.writeUInt32LE(this.#records, 4);
    head.writeUInt16LE(head.length, 8);
    head.writeUInt16LE(1 + this.#columns.reduce((sum, { width }) => sum + width, 0), 10);
    this.#columns.forEach(({ name, width }, index) => {
      head.write(name, 32 + index * 32, 'latin1');
      head.write('C', 32 + index * 32 + 11, 'latin1');
      head[32 + index * 32 + 16] = width;
    });
    head[head.length - 1] = 0x0d;
    return head;
  }
}
