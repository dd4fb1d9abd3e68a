/** `situs --version`. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../ingest/source-files.js';

/** The version in package.json. */
export function packageVersion(): string {
  const text = readFileSync(join(packageRoot(), 'package.json'), 'utf8');
  return (JSON.parse(text) as { readonly version: string }).version;
}
