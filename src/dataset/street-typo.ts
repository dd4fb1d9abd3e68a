/** Search of a list of names, as ingest/street/entries.ts writes it, for one typo. */

/** Longest name in a list. */
export const NAME_LENGTH_MAX = 63;

/** Adds the names that one change, one missing, one extra or two swapped letters away. */
export function namesWithinOneTypo(list: Uint8Array | null, name: string, into: string[]): void {
  if (list === null) return;
  const view = new DataView(list.buffer, list.byteOffset, list.byteLength);
  const wanted = Buffer.from(name, 'utf8');
  const longest = Math.min(NAME_LENGTH_MAX, wanted.length + 1);
  for (let length = Math.max(1, wanted.length - 1); length <= longest; length += 1) {
    const end = view.getUint32(length * 4, true);
    for (let at = view.getUint32((length - 1) * 4, true); at < end; at += length) {
      if (!isOneTypo(list, at, length, wanted)) continue;
      const found = Buffer.from(list.subarray(at, at + length)).toString('utf8');
      if (!into.includes(found)) into.push(found);
    }
  }
}

function isOneTypo(list: Uint8Array, at: number, length: number, name: Uint8Array): boolean {
  const shorter = Math.min(length, name.length);
  let head = 0;
  while (head < shorter && list[at + head] === name[head]) head += 1;
  let tail = 0;
  const rest = shorter - head;
  while (tail < rest && list[at + length - 1 - tail] === name[name.length - 1 - tail]) tail += 1;
  if (length !== name.length) return head + tail === shorter;
  const differing = length - head - tail;
  return (
    differing === 1 ||
    (differing === 2 && list[at + head] === name[head + 1] && list[at + head + 1] === name[head])
  );
}
