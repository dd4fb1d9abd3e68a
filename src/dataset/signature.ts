/**
 * Signatures of releases: `signature.json` beside the files of a release says who vouches for
 * exactly these bytes. What is signed (ed25519, RFC 8032) is a short text with the name of the
 * release and the SHA-256 of each file. Keys are PEM files; public keys may also be their 32 bytes
 * in base64.
 */
import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  sign,
  verify,
  type KeyObject,
} from 'node:crypto';
import { closeSync, existsSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { isObject, jsonFile } from '../base/json-object.js';
import { putFile, RELEASE_FILES, type Stamp } from './stamp.js';

export const SIGNATURE_FILE = 'signature.json';

const SIGNATURE_VERSION = 1;
const KEY_MODE = 0o600;
/** A public key as text: its 32 bytes in base64, of either alphabet. */
const PUBLIC_TEXT = /^[A-Za-z0-9+/_-]{43}=?$/;

interface Signature {
  /** The public key, in the form of `publicText`. */
  readonly key: string;
  /** The signature in base64. */
  readonly signature: string;
}

interface Signatures {
  readonly v: typeof SIGNATURE_VERSION;
  readonly signatures: readonly Signature[];
}

/** The public key of a private or public key as text: its 32 bytes in base64. */
function publicText(key: KeyObject): string {
  return Buffer.from(String(key.export({ format: 'jwk' }).x), 'base64url').toString('base64');
}

function publicKeyOf(text: string): KeyObject {
  const x = Buffer.from(text, 'base64').toString('base64url');
  return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
}

function ofEd25519(key: KeyObject, file: string): KeyObject {
  if (key.asymmetricKeyType === 'ed25519') return key;
  throw new Error(`${file} holds a key of ${key.asymmetricKeyType}, not one of ed25519`);
}

/** Reads a key from a PEM file. @throws Error that names the file. */
function keyOfFile(file: string, create: (pem: Buffer) => KeyObject, what: string): KeyObject {
  if (!existsSync(file)) throw new Error(`${file} holds no ${what} key: there is no such file`);
  const pem = readFileSync(file);
  let key: KeyObject;
  try {
    key = create(pem);
  } catch (error) {
    // The library's own message consists of its internal codes, so it is not shown.
    const why = /ENCRYPTED/.test(pem.toString('latin1'))
      ? 'it is encrypted with a password, which nobody is there to type'
      : 'its text is no PEM of one';
    throw new Error(`${file} holds no ${what} key: ${why}`, { cause: error });
  }
  return ofEd25519(key, file);
}

/**
 * Public keys in the form that is compared, from base64 or from PEM files.
 * @throws Error that names what is neither. It begins with `asked`, which says where the keys were
 * required.
 */
export function readPublicKeys(texts: readonly string[], asked: string): readonly string[] {
  return texts.map((text) => {
    try {
      return publicText(
        PUBLIC_TEXT.test(text) ? publicKeyOf(text) : keyOfFile(text, createPublicKey, 'public'),
      );
    } catch (error) {
      throw new Error(`${asked}: ${(error as Error).message}`);
    }
  });
}

/** A private key, and its public key as text. */
export interface SigningKey {
  readonly key: KeyObject;
  readonly publicKey: string;
}

/** Reads a private key from a PEM file. @throws Error that names the file. */
export function readSigningKey(file: string): SigningKey {
  const key = keyOfFile(file, createPrivateKey, 'private');
  return { key, publicKey: publicText(key) };
}

/**
 * Makes a private key in a new file that only its owner may read, and returns the public one.
 * @throws Error where the file exists or cannot be written.
 */
export function makeSigningKey(file: string): string {
  const { privateKey } = generateKeyPairSync('ed25519');
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' });
  const fd = openSync(file, 'wx', KEY_MODE);
  try {
    writeFileSync(fd, pem);
  } catch (error) {
    rmSync(file);
    throw error;
  } finally {
    closeSync(fd);
  }
  return publicText(privateKey);
}

/** The text that is signed for a release. */
function signedText(name: string, { files }: Stamp): Buffer {
  const lines = RELEASE_FILES.map((file) => `${file} ${files[file].bytes} ${files[file].sha256}`);
  return Buffer.from(`situs dataset signature 1\n${name}\n${lines.join('\n')}\n`);
}

function isSignatures(value: unknown): value is Signatures {
  if (!isObject(value)) return false;
  const { v, signatures } = value;
  return (
    v === SIGNATURE_VERSION &&
    Array.isArray(signatures) &&
    signatures.every(
      (each: Partial<Signature> | null) =>
        typeof each?.key === 'string' && typeof each.signature === 'string',
    )
  );
}

/** The signatures beside a release; none where the file is missing or cannot be read. */
function readSignatures(dir: string): readonly Signature[] {
  const value = jsonFile(join(dir, SIGNATURE_FILE));
  return isSignatures(value) ? value.signatures : [];
}

/** The public keys that a release's signatures name. The signatures are not verified here. */
export function signersOf(dir: string): readonly string[] {
  return readSignatures(dir).map(({ key }) => key);
}

/** Signs the release in a folder whose files match the stamp. Signatures of other keys stay. */
export function signRelease(dir: string, stamp: Stamp, { key, publicKey }: SigningKey): void {
  const signature = sign(null, signedText(basename(dir), stamp), key).toString('base64');
  addSignatures(dir, [{ key: publicKey, signature }]);
}

/** Adds the signatures of a copy of a release to those of the release. */
export function adoptSignatures(dir: string, copy: string): void {
  const added = readSignatures(copy);
  if (added.length > 0) addSignatures(dir, added);
}

function addSignatures(dir: string, added: readonly Signature[]): void {
  const others = readSignatures(dir).filter((other) => added.every(({ key }) => key !== other.key));
  const all: Signatures = { v: SIGNATURE_VERSION, signatures: [...others, ...added] };
  putFile(join(dir, SIGNATURE_FILE), `${JSON.stringify(all)}\n`);
}

/**
 * Why no holder of one of these keys has signed the release in `dir`, as a clause; null where one
 * has. `stamp` must belong to the bytes that will be used.
 */
export function signatureProblem(
  dir: string,
  stamp: Stamp,
  publicKeys: readonly string[],
): string | null {
  const all = readSignatures(dir);
  if (all.length === 0) return `it is not signed (it has no readable ${SIGNATURE_FILE})`;
  const known = all.filter(({ key }) => publicKeys.includes(key));
  if (known.length === 0) return 'it is signed with other keys than those that are asked for';
  const message = signedText(basename(dir), stamp);
  const holds = known.some(({ key, signature }) =>
    verify(null, message, publicKeyOf(key), Buffer.from(signature, 'base64')),
  );
  return holds ? null : 'its signature is that of other bytes';
}
