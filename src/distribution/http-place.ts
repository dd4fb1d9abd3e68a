/**
 * A place reached over HTTP: an S3-compatible store or any web server. The document is
 * `fleet.json`, the pieces are `pieces/SHA256`. A folder with these files behind a plain web server
 * is a place that can only be read; writing needs PUT with If-Match and If-None-Match.
 */
import { AwsV4Signer } from 'aws4fetch';
import { Agent, request } from 'undici';
import type { AwsSettings } from '../config.js';
import { messageOf } from '../log.js';
import { errorCode } from '../base/error-code.js';
import { type Place, PlaceError, sumOf, type Versioned } from './fleet-place.js';

/** Makes the signer. @throws Error that names the environment variable that is missing. */
export function s3Signer(aws: AwsSettings): SignRequest {
  const { accessKeyId, secretAccessKey, sessionToken, region } = aws;
  if (accessKeyId === '' || secretAccessKey === '') {
    throw new Error(
      'SITUS_DATASETS names a store of S3: AWS_ACCESS_KEY_ID and ' +
        'AWS_SECRET_ACCESS_KEY have to be set',
    );
  }
  return async ({ method, url, headers, sum }) => {
    const signed = await new AwsV4Signer({
      method,
      url,
      accessKeyId,
      secretAccessKey,
      region,
      service: 's3',
      headers: { ...headers, 'X-Amz-Content-Sha256': sum },
      ...(sessionToken === '' ? {} : { sessionToken }),
    }).sign();
    return Object.fromEntries(signed.headers);
  };
}

/** A request before it is signed; `sum` is the SHA-256 of its body. */
interface Unsigned {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'DELETE';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly sum: string;
}

/** Returns the header fields to send the request with. */
type SignRequest = (asked: Unsigned) => Promise<Readonly<Record<string, string>>>;

interface HttpPlaceOptions {
  /** Its address without secrets. */
  readonly name: string;
  /** Address of the folder, without a slash at the end. */
  readonly base: string;
  readonly sign: SignRequest;
  readonly waits?: HttpWaits;
}

/** Longest waits: for a connection, for the document, and for each next byte of a piece. */
interface HttpWaits {
  readonly connectMs: number;
  readonly documentMs: number;
  readonly silentMs: number;
}

const WAITS: HttpWaits = { connectMs: 5_000, documentMs: 10_000, silentMs: 30_000 };
/** Largest document and largest piece that are accepted. */
const DOCUMENT_BYTES_MAX = 1_048_576;
const PIECE_BYTES_MAX = 16_777_216;
const DOCUMENT = 'fleet.json';
/** Name for a PUT with a condition that never holds, to see whether the store checks conditions. */
const CHECK = 'conditional-check';

interface Asked {
  readonly method: Unsigned['method'];
  readonly path: string;
  readonly body?: Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
}

interface Told {
  readonly status: number;
  readonly etag: string;
  readonly body: Buffer;
}

/** What a status means, for the person who runs the fleet. */
function meaning(status: number, body: string): string {
  const [, code = ''] = /<Code>([A-Za-z]{1,64})<\/Code>/.exec(body) ?? [];
  const said = code === '' ? `${status}` : `${status} ${code}`;
  if (status === 401 || status === 403) return `refuses (${said}): look at the credentials`;
  if (status === 404) return `does not have it (${said})`;
  if (status === 405 || status === 501) return `takes no changes (${said}): it can only be read`;
  if (status === 507) return `has no room (${said})`;
  return `answered ${said}`;
}

export class HttpPlace implements Place {
  readonly name: string;
  readonly nodes = null;
  readonly #options: HttpPlaceOptions;
  readonly #waits: HttpWaits;
  readonly #agent: Agent;
  /** Whether the store was seen to check If-Match. */
  #heeds = false;

  constructor(options: HttpPlaceOptions) {
    this.name = options.name;
    this.#options = options;
    this.#waits = options.waits ?? WAITS;
    const { connectMs, silentMs } = this.#waits;
    this.#agent = new Agent({
      connect: { timeout: connectMs },
      headersTimeout: silentMs,
      bodyTimeout: silentMs,
    });
  }

  async read(known: string | null): Promise<Versioned | 'same' | null> {
    const told = await this.#document({
      method: 'GET',
      path: DOCUMENT,
      headers: known === null ? {} : { 'If-None-Match': known },
    });
    const { status, etag, body } = told;
    if (status === 304) return 'same';
    if (status === 404 && !/<Code>NoSuchBucket/.test(body.toString('latin1'))) return null;
    if (status !== 200) throw this.#refused('the state of the fleet', told);
    // Without an ETag the document can be read, but not replaced.
    return { text: body.toString('utf8'), version: etag };
  }

  async replace(text: string, version: string | null): Promise<boolean> {
    if (version === '') {
      throw new PlaceError(`${this.name} gives its files no ETag: it can only be read`);
    }
    await this.#requireConditions();
    const told = await this.#document({
      method: 'PUT',
      path: DOCUMENT,
      body: Buffer.from(text),
      headers: {
        'Content-Type': 'application/json',
        ...(version === null ? { 'If-None-Match': '*' } : { 'If-Match': version }),
      },
    });
    if (told.status === 412 || told.status === 409) return false;
    if (told.status < 200 || told.status > 299) {
      throw this.#refused('the state of the fleet', told);
    }
    return true;
  }

  async has(sum: string): Promise<boolean> {
    const told = await this.#send({ method: 'HEAD', path: `pieces/${sum}` }, PIECE_BYTES_MAX);
    if (told.status === 200) return true;
    if (told.status === 404) return false;
    throw this.#refused(`the piece ${sum.slice(0, 12)}…`, told);
  }

  async put(sum: string, bytes: Uint8Array): Promise<void> {
    const told = await this.#send(
      {
        method: 'PUT',
        path: `pieces/${sum}`,
        body: bytes,
        headers: { 'Content-Type': 'application/octet-stream' },
      },
      DOCUMENT_BYTES_MAX,
    );
    if (told.status < 200 || told.status > 299) {
      throw this.#refused(`the piece ${sum.slice(0, 12)}…`, told);
    }
  }

  async get(sum: string): Promise<Uint8Array> {
    const told = await this.#send({ method: 'GET', path: `pieces/${sum}` }, PIECE_BYTES_MAX);
    if (told.status === 200) return told.body;
    throw this.#refused(`the piece ${sum.slice(0, 12)}…`, told);
  }

  async remove(sum: string): Promise<void> {
    const told = await this.#send({ method: 'DELETE', path: `pieces/${sum}` }, DOCUMENT_BYTES_MAX);
    if ((told.status < 200 || told.status > 299) && told.status !== 404) {
      throw this.#refused(`the removal of the piece ${sum.slice(0, 12)}…`, told);
    }
  }

  watch(): Promise<void> {
    return Promise.resolve();
  }

  close(): Promise<void> {
    return this.#agent.destroy();
  }

  /**
   * If-Match alone keeps two activations at once apart, and some servers ignore it in a PUT. So a
   * PUT whose condition cannot hold is sent first, which the server has to refuse.
   */
  async #requireConditions(): Promise<void> {
    if (this.#heeds) return;
    const told = await this.#document({
      method: 'PUT',
      path: CHECK,
      body: Buffer.from('situs\n'),
      headers: { 'If-Match': '"no-such-version"' },
    });
    if (told.status >= 200 && told.status <= 299) {
      await this.#document({ method: 'DELETE', path: CHECK }).catch(() => undefined);
      throw new PlaceError(
        `${this.name} takes a PUT without regard to If-Match: two ` +
          'activations at once could undo one another, so nothing is written there',
      );
    }
    // A store may also answer that the object to be replaced does not exist.
    if (told.status !== 412 && told.status !== 409 && told.status !== 404) {
      throw this.#refused('a PUT with If-Match', told);
    }
    this.#heeds = true;
  }

  #refused(what: string, { status, body }: Told): PlaceError {
    return new PlaceError(
      `${this.name}: asked for ${what}, it ${meaning(status, body.toString('latin1', 0, 2_048))}`,
    );
  }

  #document(asked: Asked): Promise<Told> {
    return this.#send(asked, DOCUMENT_BYTES_MAX, this.#waits.documentMs);
  }

  /**
   * `withinMs` limits the whole request; without it, only the wait for each next byte is limited.
   */
  async #send(asked: Asked, most: number, withinMs?: number): Promise<Told> {
    const { method, path, body, headers = {} } = asked;
    const url = `${this.#options.base}/${path}`;
    const signed = await this.#options.sign({
      method,
      url,
      headers,
      sum: sumOf(body ?? new Uint8Array(0)),
    });
    const patience = withinMs === undefined ? undefined : AbortSignal.timeout(withinMs);
    try {
      const answer = await request(url, {
        method,
        headers: { 'Accept-Encoding': 'identity', ...signed },
        dispatcher: this.#agent,
        ...(body === undefined ? {} : { body }),
        ...(patience === undefined ? {} : { signal: patience }),
      });
      // A body may fail before it is read, which must not end the process. Reading it then throws.
      answer.body.on('error', () => undefined);
      const bytes = await this.#taken(answer.body, most);
      const length = Number(answer.headers['content-length'] ?? bytes.length);
      if (method !== 'HEAD' && answer.statusCode === 200 && length !== bytes.length) {
        throw new Error(`${bytes.length} of ${length} bytes came`);
      }
      return {
        status: answer.statusCode,
        etag: String(answer.headers['etag'] ?? ''),
        body: bytes,
      };
    } catch (error) {
      if (error instanceof PlaceError) throw error;
      throw new PlaceError(
        `${this.name} cannot be reached: ${
          patience?.aborted === true
            ? `no whole answer within ${withinMs! / 1_000} s`
            : faultText(error)
        }`,
      );
    }
  }

  async #taken(body: AsyncIterable<Uint8Array>, most: number): Promise<Buffer> {
    const parts: Uint8Array[] = [];
    let bytes = 0;
    for await (const part of body) {
      parts.push(part);
      bytes += part.length;
      if (bytes > most) throw new PlaceError(`${this.name} answered with more than ${most} bytes`);
    }
    return Buffer.concat(parts);
  }
}

/** Message of an error, with its code where the message lacks it. */
function faultText(error: unknown): string {
  const code = errorCode(error);
  const text = messageOf(error);
  return text === '' ? code : code === '' || text.includes(code) ? text : `${text} (${code})`;
}
