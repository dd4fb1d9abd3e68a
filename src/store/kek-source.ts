/**
 * Where key-encryption keys come from: from the environment where SITUS_KEK is set, otherwise from
 * a file.
 */
import { dirname, join, relative } from 'node:path';
import type { Config } from '../config.js';
import { type Kek, KekFile, kekOf, type KekSource, missingKek } from './kek-file.js';

/** Settings that say where the keys come from. */
export type KekConfig = Pick<Config, 'varDir' | 'kekFile' | 'kek' | 'kekPrevious'>;

/** Keys from the environment, which do not change while the process runs. */
class KekList implements KekSource {
  readonly #keks: readonly [Kek, ...Kek[]];

  constructor(keks: readonly [Kek, ...Kek[]]) {
    this.#keks = keks;
  }

  current(): Kek {
    return this.#keks[0];
  }

  find(id: string): Kek {
    const found = this.#keks.find((kek) => kek.id === id);
    if (found === undefined) throw missingKek(id, 'SITUS_KEK or SITUS_KEK_PREVIOUS');
    return found;
  }

  all(): readonly Kek[] {
    return this.#keks;
  }
}

/** The file of keys; beside the store's folder unless set. */
export function kekPath({ varDir, kekFile }: Pick<KekConfig, 'varDir' | 'kekFile'>): string {
  const path = kekFile ?? join(varDir, 'kek');
  if (!relative(join(varDir, 'store'), dirname(path)).startsWith('..')) {
    throw new Error('SITUS_KEK_FILE lies in the folder of the store: a key belongs elsewhere');
  }
  return path;
}

/**
 * Opens the keys: from the environment where SITUS_KEK is set, otherwise from the file.
 * @param needed id of the key that the store's secrets need; null allows a new file to be made
 * @throws Error when that key is missing, or the file is damaged or readable by others
 */
export function openKekSource(config: KekConfig, needed: string | null): KekSource {
  const source =
    config.kek === null
      ? KekFile.open(kekPath(config), needed)
      : new KekList([kekOf(config.kek), ...config.kekPrevious.map(kekOf)]);
  if (needed !== null) source.find(needed);
  return source;
}
