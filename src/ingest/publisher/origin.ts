/**
 * Where publishers' files come from: the web, through the proxy that the environment names, or a
 * mirror that holds them by host and path, on the web or in a folder.
 */
import { createReadStream, existsSync, readdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { EnvHttpProxyAgent, request } from 'undici';

/** Some publishers refuse clients that do not look like a browser. */
const USER_AGENT = 'Mozilla/5.0 (compatible; Situs; sales tax datasets)';

const REDIRECTIONS_MAX = 5;
/**
 * Bytes that are received ahead of the reader. The library throws where no handler can catch it if
 * a connection ends while the library holds bytes back. With this much it never does: readers take
 * everything at each turn of the event loop, and no turn brings as much.
 */
const AHEAD_BYTES_MAX = 64 * 1_048_576;

export interface Answer {
  readonly status: number;
  /** Value of a header field; "" for none. */
  readonly header: (name: string) => string;
  readonly body: AsyncIterable<Uint8Array>;
  /** Abandons the rest of the body. */
  readonly drop: () => Promise<void>;
}

export interface Origin {
  get(url: string, headers: Readonly<Record<string, string>>, signal: AbortSignal): Promise<Answer>;
  close(): Promise<void>;
}

async function* nothing(): AsyncGenerator<Uint8Array> {
  // The answer has no body.
}

/**
 * A proxy agent by the environment. The library's warning that it is experimental is suppressed.
 */
function proxyAgent(): EnvHttpProxyAgent {
  const { emitWarning } = process;
  process.emitWarning = () => undefined;
  try {
    return new EnvHttpProxyAgent();
  } catch (error) {
    throw new Error(`HTTPS_PROXY or HTTP_PROXY names no proxy: ${(error as Error).message}`, {
      cause: error,
    });
  } finally {
    process.emitWarning = emitWarning;
  }
}

/** The web, or a mirror on it: MIRROR/HOST/PATH. */
class WebOrigin implements Origin {
  readonly #agent = proxyAgent();
  readonly #mirror: string | null;

  constructor(mirror: string | null) {
    this.#mirror = mirror;
  }

  async get(
    url: string,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<Answer> {
    const { host, pathname, search } = new URL(url);
    const asked =
      this.#mirror === null
        ? url
        : `${this.#mirror.replace(/\/$/, '')}/${host}${pathname}${search}`;
    const {
      statusCode,
      headers: given,
      body,
    } = await request(asked, {
      method: 'GET',
      signal,
      dispatcher: this.#agent,
      maxRedirections: REDIRECTIONS_MAX,
      highWaterMark: AHEAD_BYTES_MAX,
      headers: { 'User-Agent': USER_AGENT, 'Accept-Encoding': 'identity', ...headers },
    });
    // A body may fail before it is read, which must not end the process. Reading it then throws.
    body.on('error', () => undefined);
    return {
      status: statusCode,
      header: (name) => String(given[name] ?? ''),
      body,
      drop: async () => {
        await body.dump();
      },
    };
  }

  async close(): Promise<void> {
    await this.#agent.close();
  }
}

/** A folder that has the files of each host below the host's name. */
class FolderOrigin implements Origin {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  get(url: string): Promise<Answer> {
    const { host, pathname } = new URL(url);
    const path = join(this.#folder, host, decodeURIComponent(pathname));
    const found = path.startsWith(`${resolve(this.#folder)}/`) && existsSync(path);
    const answer = (status: number, body: AsyncIterable<Uint8Array>, length = ''): Answer => ({
      status,
      body,
      drop: () => Promise.resolve(),
      header: (name) => (name === 'content-length' ? length : ''),
    });
    if (!found) return Promise.resolve(answer(404, nothing()));
    if (statSync(path).isDirectory()) return Promise.resolve(answer(200, listing(path)));
    const length = String(statSync(path).size);
    return Promise.resolve(answer(200, createReadStream(path), length));
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

/** A directory as a page of links: its own page, or its contents. */
async function* listing(path: string): AsyncGenerator<Uint8Array> {
  const page = join(path, 'index.html');
  if (existsSync(page)) yield* createReadStream(page) as AsyncIterable<Buffer>;
  else {
    for (const name of readdirSync(path).sort()) {
      yield Buffer.from(`<a href="${encodeURIComponent(name)}">${name}</a>\n`);
    }
  }
}

/** Opens the web or a mirror, which is an address or a folder. */
export function openOrigin(mirror: string | null): Origin {
  if (mirror === null || /^https?:\/\//i.test(mirror)) return new WebOrigin(mirror);
  if (!existsSync(mirror)) throw new Error(`there is no mirror in ${mirror}`);
  return new FolderOrigin(resolve(mirror));
}
