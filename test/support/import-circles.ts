/** Files that need each other at run time: none of such a circle can be read or moved alone. */
import { join } from 'node:path/posix';

/** Imports of types are gone from what runs; what is imported later is no part of a circle. */
const NEEDED = /^(?:import|export)\s(?!type\s)(?:[^;']*?\sfrom\s)?'(\.[^']+)\.js'/gm;

function neededBy(path: string, text: string): readonly string[] {
  return [...text.matchAll(NEEDED)].map(([, name = '']) => `${join(path, '..', name)}.ts`);
}

/** A circle of imports as paths, each of which needs the next one and the last the first. */
export function circleIn(files: ReadonlyMap<string, string>): readonly string[] | null {
  const sound = new Set<string>();
  const way: string[] = [];
  const walk = (path: string): readonly string[] | null => {
    const at = way.indexOf(path);
    if (at >= 0) return way.slice(at);
    const text = files.get(path);
    if (text === undefined || sound.has(path)) return null;
    way.push(path);
    for (const needed of neededBy(path, text)) {
      const circle = walk(needed);
      if (circle !== null) return circle;
    }
    way.pop();
    sound.add(path);
    return null;
  };
  for (const path of files.keys()) {
    const circle = walk(path);
    if (circle !== null) return circle;
  }
  return null;
}
