/** Ways to damage a release, each drawn at random. */
import {
  appendFileSync,
  chmodSync,
  closeSync,
  copyFileSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { RELEASE_FILES, STAMP_FILE } from '../../src/dataset/stamp.js';

const BITS_MAX = 8;
const PAGE_BYTES = 4_096;

export interface Damage {
  readonly name: string;
  /** False where all that was built is still there, so that the release may be used. */
  readonly harmful: boolean;
  /** Damages the release in `dir`; `sound` is the folder of another, intact release. */
  apply(dir: string, sound: string): void;
}

type Random = () => number;

function pick<T>(random: Random, list: readonly T[]): T {
  return list[Math.floor(random() * list.length)]!;
}

function flipBits(file: string, places: readonly number[], random: Random): void {
  const bytes = readFileSync(file);
  for (const at of places) bytes[at] = bytes[at]! ^ (1 << Math.floor(random() * 8));
  // In place, so that a server which has mapped the file sees the change.
  const fd = openSync(file, 'r+');
  writeSync(fd, bytes, 0, bytes.length, 0);
  closeSync(fd);
}

function someBits(file: string, random: Random): void {
  const { size } = statSync(file);
  // Different places, so that no bit is flipped back.
  const places = new Set(
    Array.from({ length: 1 + Math.floor(random() * BITS_MAX) }, () => Math.floor(random() * size)),
  );
  flipBits(file, [...places], random);
}

/** The file that was chosen for a damage, and its path in any folder. */
interface Draw {
  readonly random: Random;
  readonly name: string;
  file(dir: string): string;
}

type Apply = Damage['apply'];

/** Overwrites one of the two pages that hold the head with a single repeated byte. */
function blankPage(file: string, random: Random): void {
  const fd = openSync(file, 'r+');
  writeSync(
    fd,
    Buffer.alloc(PAGE_BYTES, random() < 0.5 ? 0 : 255),
    0,
    PAGE_BYTES,
    Math.floor(random() * 2) * PAGE_BYTES,
  );
  closeSync(fd);
}

function cutting({ random, name, file }: Draw): readonly (readonly [string, Apply])[] {
  return [
    [
      `${name} cut`,
      (dir) => truncateSync(file(dir), Math.floor(random() * statSync(file(dir)).size)),
    ],
    [
      `${name} cut at a page`,
      (dir) => {
        const pages = Math.ceil(statSync(file(dir)).size / PAGE_BYTES);
        truncateSync(file(dir), Math.floor(random() * pages) * PAGE_BYTES);
      },
    ],
    [`${name} empty`, (dir) => truncateSync(file(dir), 0)],
    [`${name} missing`, (dir) => rmSync(file(dir))],
  ];
}

function changing({ random, name, file }: Draw): readonly (readonly [string, Apply])[] {
  const data = (dir: string): string => join(dir, 'data.mdb');
  return [
    [`${name} with flipped bits`, (dir) => someBits(file(dir), random)],
    [
      'data.mdb with a flipped bit in its head',
      (dir) => flipBits(data(dir), [Math.floor(random() * 2 * PAGE_BYTES)], random),
    ],
    [`${name} of another release`, (dir, sound) => copyFileSync(join(sound, name), file(dir))],
    [
      'data and checksum of another release',
      (dir, sound) => {
        for (const each of ['data.mdb', 'data.sha256']) {
          copyFileSync(join(sound, each), join(dir, each));
        }
      },
    ],
    [
      `${name} with more behind it`,
      (dir) => appendFileSync(file(dir), 'x'.repeat(1 + random() * 9_000)),
    ],
    ['data.mdb with a blank page', (dir) => blankPage(data(dir), random)],
  ];
}

/** Draws a damage; most concern the data file. */
export function drawDamage(random: Random): Damage {
  const name = random() < 0.6 ? 'data.mdb' : pick(random, RELEASE_FILES);
  const draw: Draw = { random, name, file: (dir) => join(dir, name) };
  const stamp: readonly [string, Apply] = [
    'a damaged stamp',
    (dir) =>
      writeFileSync(
        join(dir, STAMP_FILE),
        pick(random, ['', '{', 'null', '{"v":1}', '\0'.repeat(100)]),
      ),
  ];
  const chosen = pick(random, [...cutting(draw), ...changing(draw), stamp]);
  return {
    name: chosen[0],
    harmful: chosen !== stamp,
    apply: (dir, sound) => {
      for (const each of RELEASE_FILES) chmodSync(join(dir, each), 0o644);
      chosen[1](dir, sound);
    },
  };
}

/** What CURRENT may contain by accident; null means that it is missing. */
export const LOST_POINTERS: readonly (string | null)[] = [
  null,
  '',
  '\n',
  '\0\0\0\0',
  '../../etc',
  'x'.repeat(5_000),
  '2026-01-01-0000000000',
];
