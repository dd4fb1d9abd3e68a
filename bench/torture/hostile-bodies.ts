/** Bodies that are most expensive for a careless server, of any length. */

import { JSON_NESTED_MAX, JSON_VALUES_MAX } from '../../src/base/json-scan.js';

interface HostileBody {
  readonly name: string;
  /** A body of at most so many bytes; if it is an object, it begins with the given members. */
  make(bytes: number, members: string): Buffer;
}

/** An opening, as many pieces as fit, and a closing. */
function filled(open: string, piece: string, close: string, bytes: number): Buffer {
  const room = bytes - Buffer.byteLength(open) - Buffer.byteLength(close);
  const count = Math.max(0, Math.floor(room / Buffer.byteLength(piece)));
  const pieces = Buffer.alloc(count * Buffer.byteLength(piece), piece);
  return Buffer.concat([Buffer.from(open), pieces, Buffer.from(close)]);
}

function repeating(name: string, open: string, piece: string, close: string): HostileBody {
  return { name, make: (bytes, members) => filled(`{${members}${open}`, piece, close, bytes) };
}

/**
 * A body with as many values as are read, which `piece` makes one by one, filled up with blanks.
 * `values` is the number of values in a piece.
 */
function atLimit(
  name: string,
  open: string,
  piece: (at: number) => string,
  close: string,
  values = 1,
): HostileBody {
  const count = Math.floor((JSON_VALUES_MAX - 16) / values);
  return {
    name: `${name}, as many as are read`,
    make: (bytes, members) => {
      const pieces = [`{${members}${open}`];
      let left = bytes - pieces[0]!.length - close.length;
      for (let at = 0; at < count; at += 1) {
        const next = piece(at);
        const length = Buffer.byteLength(next);
        if (length > left) break;
        left -= length;
        pieces.push(next);
      }
      return Buffer.from(pieces.join('') + close + ' '.repeat(Math.max(0, left)));
    },
  };
}

/** Objects, each with another layout, and texts once there are as many objects as are read. */
function objectOrText(at: number): string {
  return at < JSON_NESTED_MAX - 16 ? `{"${at}k":0},` : '"ab","abc",';
}

/** The longest name and value among many members. */
const MEMBER_BYTES = 14;

function manyMembers(bytes: number, members: string): Buffer {
  const count = Math.floor((bytes - members.length - 10) / MEMBER_BYTES);
  const all = Array.from({ length: Math.max(0, count) }, (_, at) => `"k${at}":0`);
  return Buffer.from(`{${members}${all.join(',')}}`);
}

export const HOSTILE_BODIES: readonly HostileBody[] = [
  repeating('lists in lists', '"items":', '[', ''),
  repeating('objects in objects', '"items":', '{"a":', ''),
  repeating('empty objects', '"items":[', '{},', '{}]}'),
  repeating('empty lines of a cart', '"items":[{"lineItems":[', '{},', '{}]}]}'),
  repeating('a list of zeros', '"locations":[', '0,', '0]}'),
  repeating('a long text', '"merchantName":"', 'x', '"}'),
  repeating('a text of escapes', '"merchantName":"', '\\u0000', '"}'),
  repeating('backslashes', '"query":"', '\\\\', '"}'),
  repeating('a long number', '"price":', '1', '}'),
  repeating('a long fraction', '"price":0.', '3', '}'),
  repeating('numbers of exponents', '"items":[', '1e99,', '0]}'),
  repeating('one member again and again', '', '"merchantId":0,', '"a":0}'),
  { name: 'many members', make: manyMembers },
  atLimit('members', '', (at) => `"k${at}":0.1,`, '"a":0}'),
  atLimit('objects and texts', '"items":[', objectOrText, '0]}', 2),
  atLimit('objects and lists', '"items":[', (at) => (at % 2 ? '[],' : '{},'), '0]}', 4),
  atLimit('numbers', '"items":[', () => '1e99,', '0]}'),
  atLimit('wide texts', '"items":[', (at) => `"€${at}",`, '0]}'),
  repeating('blanks', '', ' ', '}'),
  { name: 'line ends', make: (bytes) => Buffer.alloc(bytes, '\n') },
  { name: 'quotes', make: (bytes) => Buffer.alloc(bytes, '"') },
  { name: 'commas', make: (bytes) => Buffer.alloc(bytes, ',') },
  { name: 'bytes that are no text', make: (bytes) => Buffer.alloc(bytes, 0xff) },
];
