/** Folders with a key file, and configurations that point to them. */
import type { KekConfig } from '../../src/store/kek-source.js';

/** The configuration of a folder whose keys are in a file beside the store. */
export function fileConfig(varDir: string): KekConfig {
  return { varDir, kekFile: null, kek: null, kekPrevious: [] };
}

/** A secret that occurs nowhere by chance. */
export const DISTINCTIVE = 'zq7-distinctive-secret-0f3a91';
