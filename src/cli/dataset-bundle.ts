/** `situs dataset sign|pack|unpack`: signs releases, and puts each into one file. */
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { loadConfig } from '../config.js';
import { nameBundle, openBundle, packRelease, unpackBundle } from '../dataset/bundle.js';
import { putRelease } from '../dataset/put-release.js';
import { activeRelease, currentRelease, findRelease, releasesDir } from '../dataset/release.js';
import { makeSigningKey, readSigningKey } from '../dataset/signature.js';
import { createProgress } from '../ingest/progress.js';
import { makeTemporary } from '../ingest/release-writer.js';
import { makeFolder } from '../store/folder.js';
import { print, progress, removeOnSignal, UsageError } from './command-line.js';
import { activateSound, problemsOf, checkSound, requiredKeys, signSound } from './sound-release.js';
import { errorCode } from '../base/error-code.js';

/** Name and folder of the release that is asked for, after a complete check. */
export async function wholeRelease(
  text: string | undefined,
  quiet = false,
): Promise<{ readonly name: string; readonly dir: string }> {
  const { varDir } = loadConfig();
  const name = text === undefined ? activeRelease(varDir) : findRelease(varDir, text);
  if (name === null) throw new Error('no dataset is active; see: npx situs dataset list');
  const dir = join(releasesDir(varDir), name);
  await checkSound(dir, name, quiet);
  return { name, dir };
}

/** Runs `situs dataset sign [RELEASE] --key FILE`, or `--new-key FILE`. */
export async function signCommand(
  text: string | undefined,
  { key, newKey }: { readonly key?: string; readonly newKey?: string },
): Promise<void> {
  if (newKey !== undefined) {
    if (key !== undefined || text !== undefined) {
      throw new UsageError('--new-key makes a key and signs nothing: give it alone');
    }
    print(makeSigningKey(newKey));
    return;
  }
  if (key === undefined) throw new UsageError('--key FILE names the private key to sign with');
  const signing = readSigningKey(key);
  const { name, dir } = await wholeRelease(text);
  signSound(dir, signing);
  print(`${name} signed by ${signing.publicKey}`);
}

/** Runs `situs dataset pack [RELEASE] [FILE]`. */
export async function packCommand(
  text: string | undefined,
  path: string | undefined,
  { quiet = false }: { readonly quiet?: boolean },
): Promise<void> {
  const { name, dir } = await wholeRelease(text, quiet);
  const file = resolve(path ?? `${name}.situs`);
  const exists = `${file} exists; a bundle does not replace one`;
  if (existsSync(file)) throw new Error(exists);
  makeFolder(dirname(file), 'FILE');
  const temporary = join(dirname(file), `.${basename(file)}.${process.pid}`);
  removeOnSignal(temporary);
  const tell = quiet ? () => undefined : createProgress(process.stderr);
  try {
    await packRelease(dir, name, temporary, (done, total) => tell('pack', done, total));
    nameBundle(temporary, file);
  } catch (error) {
    // Another process has made a file of that name meanwhile.
    throw errorCode(error) === 'EEXIST' ? new Error(exists) : error;
  } finally {
    rmSync(temporary, { force: true });
  }
  print(file);
}

interface UnpackAsked {
  readonly activate?: boolean;
  readonly requireSignature?: readonly string[];
  readonly quiet?: boolean;
}

/** Runs `situs dataset unpack FILE`. */
export async function unpackCommand(
  path: string,
  { activate = false, requireSignature, quiet = false }: UnpackAsked,
): Promise<void> {
  const { varDir } = loadConfig();
  const signedBy = requiredKeys(requireSignature);
  const bundle = await openBundle(path);
  const { dataset } = bundle;
  makeFolder(releasesDir(varDir), 'SITUS_VAR');
  const temporary = makeTemporary(varDir);
  removeOnSignal(temporary);
  const tell = quiet ? () => undefined : createProgress(process.stderr);
  try {
    const unpacked = join(temporary, dataset);
    mkdirSync(unpacked);
    await unpackBundle(path, bundle, unpacked, (done, total) => tell('unpack', done, total));
    const problems = await problemsOf(unpacked, quiet, signedBy);
    if (problems.length > 0) {
      throw new Error(
        `${path} was not taken: the dataset ${dataset} in it is not sound: ${problems.join('; ')}`,
      );
    }
    putRelease(unpacked, join(releasesDir(varDir), dataset));
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
  if (activate) await activateSound(varDir, dataset, { quiet, signedBy });
  else if (!quiet && currentRelease(varDir) !== dataset)
    progress(`to let it answer: npx situs dataset activate ${dataset}`);
  print(dataset);
}
