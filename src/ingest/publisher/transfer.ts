/**
 * Gets one file without transferring bytes twice: conditionally if it exists, from where it stopped
 * if a part exists, and again if a fault may pass. The part lies beside the file as NAME.part, with
 * NAME.part.json, which describes what it is a part of.
 */
import { createHash } from 'node:crypto';
import {
  createReadStream,
  existsSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import type { Answer, Origin } from './origin.js';

/** Statuses after which the same request may succeed. */
const PASSING = new Set([408, 429, 500, 502, 503, 504]);
/** Faults of a certificate, which another attempt does not change. */
const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_|ERR_TLS|ALTNAME/;
export const TRIES_MAX = 5;
/** Largest file that is accepted; no recipe reads a larger one. */
const FILE_BYTES_MAX = 8 * 1_073_741_824;
/** Longest wait for an answer, and for its next bytes. */
const STALL_MS_MAX = 60_000;
const WAIT_MS = 1_000;
const WAIT_MS_MAX = 30_000;

/** Identifies a version of a file at its publisher. */
export interface Version {
  readonly etag: string;
  readonly lastModified: string;
}

export interface TransferOptions {
  readonly origin: Origin;
  readonly signal: AbortSignal;
  /**
   * Called with the bytes so far and all bytes; the latter is 0 where the publisher does not say.
   */
  readonly progress: (done: number, total: number) => void;
  readonly bytesMax?: number;
  readonly stallMs?: number;
  /** Wait before the second attempt; it doubles for each further one. */
  readonly waitMs?: number;
  readonly triesMax?: number;
}

/** The outcome: a complete part, or nothing because the present file is up to date. */
export type Transferred =
  | { readonly kind: 'same' }
  | ({
      readonly kind: 'whole';
      readonly part: string;
      readonly bytes: number;
      readonly sha256: string;
    } & Version);

/** An answer that is not the file, and whether another attempt may help. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    readonly retryAfter: string,
  ) {
    super(`the publisher answers ${status}`);
  }
}

class CutShort extends Error {}

interface Part extends Version {
  readonly url: string;
}

function partOf(target: string, url: string): (Part & { readonly size: number }) | null {
  try {
    const note = JSON.parse(readFileSync(`${target}.part.json`, 'utf8')) as Part;
    const { size } = statSync(`${target}.part`);
    return note.url === url && size > 0 && strong(note) !== '' ? { ...note, size } : null;
  } catch {
    return null;
  }
}

/** Removes a part. */
export function dropPart(target: string): void {
  rmSync(`${target}.part`, { force: true });
  rmSync(`${target}.part.json`, { force: true });
}

/** The mark for If-Range. Only a strong one proves that two ranges are of the same file. */
function strong({ etag, lastModified }: Version): string {
  return etag !== '' && !etag.startsWith('W/') ? etag : lastModified;
}

function headersOf(
  part: ReturnType<typeof partOf>,
  held: Version | null,
): Readonly<Record<string, string>> {
  if (part !== null) return { Range: `bytes=${part.size}-`, 'If-Range': strong(part) };
  if (held === null) return {};
  if (held.etag !== '') return { 'If-None-Match': held.etag };
  return held.lastModified === '' ? {} : { 'If-Modified-Since': held.lastModified };
}

/** Whether an answer continues a part, since some publishers ignore If-Range. */
function goesOn(answer: Answer, part: ReturnType<typeof partOf>): boolean {
  if (answer.status !== 206 || part === null) return false;
  const from = /^bytes (\d+)-/.exec(answer.header('content-range'))?.[1];
  const differs = (mark: string, known: string): boolean =>
    mark !== '' && known !== '' && mark !== known;
  return (
    Number(from) === part.size &&
    !differs(answer.header('etag'), part.etag) &&
    !differs(answer.header('last-modified'), part.lastModified)
  );
}

async function hashOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  return hash.digest('hex');
}

async function writeBody(
  answer: Answer,
  target: string,
  from: number,
  options: TransferOptions,
  alive: () => void,
): Promise<number> {
  const { bytesMax = FILE_BYTES_MAX, progress } = options;
  const length = Number(answer.header('content-length') || 0);
  // A publisher may send less than was asked for, and states the whole length.
  const whole = /\/(\d+)$/.exec(from > 0 ? answer.header('content-range') : '')?.[1];
  const total = Number(whole ?? (length > 0 ? from + length : 0));
  const file = await open(`${target}.part`, from > 0 ? 'a' : 'w');
  let size = from;
  try {
    for await (const chunk of answer.body) {
      alive();
      size += chunk.byteLength;
      if (size > bytesMax) throw new RangeError(`it has more than ${bytesMax} bytes`);
      // Written synchronously, so that the next bytes never wait for the disk (see
      // AHEAD_BYTES_MAX).
      writeFileSync(file.fd, chunk);
      progress(size, total);
    }
    await file.sync();
  } finally {
    await file.close();
  }
  if (total > 0 && size < total) throw new CutShort(`it ended after ${size} of ${total} bytes`);
  return size;
}

async function attempt(
  url: string,
  target: string,
  held: Version | null,
  options: TransferOptions,
): Promise<Transferred> {
  const { stallMs = STALL_MS_MAX } = options;
  const stalled = new AbortController();
  const late = (): void => stalled.abort(new CutShort(`nothing came for ${stallMs} ms`));
  let timer = setTimeout(late, stallMs);
  const alive = (): void => {
    clearTimeout(timer);
    timer = setTimeout(late, stallMs);
  };
  try {
    const part = partOf(target, url);
    const signal = AbortSignal.any([options.signal, stalled.signal]);
    const answer = await options.origin.get(url, headersOf(part, held), signal);
    if (answer.status === 304 && held !== null) {
      await answer.drop();
      return { kind: 'same' };
    }
    const from = goesOn(answer, part) ? (part?.size ?? 0) : 0;
    if (answer.status !== 200 && from === 0) {
      await answer.drop();
      // A range other than the requested one is treated as a refusal.
      const status = answer.status === 206 ? 416 : answer.status;
      if (status === 416) dropPart(target);
      throw new Refusal(status, answer.header('retry-after'));
    }
    const version = { etag: answer.header('etag'), lastModified: answer.header('last-modified') };
    if (from === 0) {
      // The old bytes must be gone before there is a note for the new ones.
      dropPart(target);
      writeFileSync(`${target}.part.json`, JSON.stringify({ url, ...version }));
    }
    const bytes = await writeBody(answer, target, from, options, alive);
    const sha256 = await hashOf(`${target}.part`);
    return { kind: 'whole', part: `${target}.part`, bytes, sha256, ...version };
  } finally {
    clearTimeout(timer);
  }
}

/** Whether another attempt may help: for some statuses, and for faults of the connection. */
function mayPass(error: unknown): boolean {
  if (error instanceof Refusal) return PASSING.has(error.status) || error.status === 416;
  if (error instanceof CutShort) return true;
  if (!(error instanceof Error) || error instanceof RangeError) return false;
  const { cause } = error as { cause?: { code?: string } };
  const code = cause?.code ?? (error as { code?: string }).code ?? '';
  if (CERTIFICATE.test(code)) return false;
  // UND_ERR_SOCKET means that the other side closed the connection, before or within an answer.
  return /^(?:ECONN|EPIPE|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOST|ENET|UND_ERR)/.test(code);
}

/** Wait before another attempt in ms: as the publisher asks, or twice the last. */
function pause(error: unknown, tries: number, waitMs: number): number {
  const asked =
    error instanceof Refusal && /^\d+$/.test(error.retryAfter)
      ? Number(error.retryAfter) * 1_000
      : waitMs * 2 ** (tries - 1);
  return Math.min(asked, WAIT_MS_MAX);
}

/**
 * Gets a file into TARGET.part. `held` is the version of the file at `target`; null for none. The
 * caller checks the part and renames it.
 * @throws Error with the reason after the last attempt; the part stays for the next time.
 */
export async function transfer(
  url: string,
  target: string,
  held: Version | null,
  options: TransferOptions,
): Promise<Transferred> {
  const { waitMs = WAIT_MS, triesMax = TRIES_MAX, signal } = options;
  const known = existsSync(target) ? held : null;
  for (let tries = 1; ; tries += 1) {
    try {
      return await attempt(url, target, known, options);
    } catch (error) {
      if (signal.aborted || tries === triesMax || !mayPass(error)) throw error;
      await wait(pause(error, tries, waitMs), undefined, { signal });
    }
  }
}

/** The reason of a failed request, which is in the error's cause rather than its message. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}
