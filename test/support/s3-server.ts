/**
 * A store that speaks the part of S3 which datasets of a fleet need: objects by path, ETags,
 * If-Match and If-None-Match. It signs every request itself, from the description of Signature
 * Version 4 and with no code of the client's, and refuses what was signed otherwise. Faults are put
 * in by the test.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';

export const S3_KEYS = {
  AWS_ACCESS_KEY_ID: 'AKIATESTOFDATASETS',
  AWS_SECRET_ACCESS_KEY: 'a/secret+of=the-tests',
  AWS_REGION: 'test-region-1',
} as const;

/** What a request meets instead of its answer. */
export type Fault =
  | { readonly status: number; readonly code?: string }
  /** Headers and the first half of the body, then the connection ends. */
  | 'truncated'
  /** The right length and other bytes. */
  | 'wrong'
  /** Never an answer. */
  | 'silent'
  /** Headers, and then no byte. */
  | 'stalled';

export interface StoreServer {
  readonly url: string;
  readonly objects: Map<string, Buffer>;
  /** Method and path of each request, as it came. */
  readonly asked: string[];
  /** What the next requests meet; null for what they asked. */
  fault: (method: string, path: string) => Fault | null;
}

function sha256(bytes: Uint8Array | string): string {
  return createHash('sha256').update(bytes).digest('hex');
}

function hmac(key: Uint8Array | string, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}

function etagOf(bytes: Buffer): string {
  return `"${createHash('md5').update(bytes).digest('hex')}"`;
}

const AUTHORIZATION = new RegExp(
  '^AWS4-HMAC-SHA256 Credential=([^/]+)/(\\d{8})/([^/]+)/s3/aws4_request, ' +
    'SignedHeaders=([a-z0-9;-]+), Signature=([0-9a-f]{64})$',
);

/** Why a request is refused as not signed by whoever has the key; null when it is. */
function signatureFault(request: IncomingMessage, body: Buffer): string | null {
  const found = AUTHORIZATION.exec(String(request.headers.authorization ?? ''));
  if (found === null) return 'AccessDenied';
  const [, id, day = '', region = '', names = '', signature = ''] = found;
  if (id !== S3_KEYS.AWS_ACCESS_KEY_ID) return 'InvalidAccessKeyId';
  if (region !== S3_KEYS.AWS_REGION) return 'AuthorizationHeaderMalformed';
  const header = (name: string): string => String(request.headers[name] ?? '').trim();
  const signed = names.split(';');
  for (const needed of ['host', 'x-amz-content-sha256', 'x-amz-date']) {
    if (!signed.includes(needed)) return 'AccessDenied';
  }
  // A condition that is not signed could be taken away on the way.
  for (const name of ['if-match', 'if-none-match']) {
    if (header(name) !== '' && !signed.includes(name)) return 'AccessDenied';
  }
  if (header('x-amz-content-sha256') !== sha256(body)) return 'XAmzContentSHA256Mismatch';
  const canonical = [
    request.method,
    request.url ?? '',
    '',
    ...signed.map((name) => `${name}:${header(name)}`),
    '',
    names,
    header('x-amz-content-sha256'),
  ].join('\n');
  const time = header('x-amz-date');
  if (!time.startsWith(day)) return 'AccessDenied';
  const text = `AWS4-HMAC-SHA256\n${time}\n${day}/${region}/s3/aws4_request\n${sha256(canonical)}`;
  const key = ['s3', 'aws4_request'].reduce(
    hmac,
    hmac(hmac(`AWS4${S3_KEYS.AWS_SECRET_ACCESS_KEY}`, day), region),
  );
  const right = timingSafeEqual(hmac(key, text), Buffer.from(signature, 'hex'));
  return right ? null : 'SignatureDoesNotMatch';
}

function refuse(response: ServerResponse, status: number, code = ''): void {
  const body = code === '' ? '' : `<?xml version="1.0"?><Error><Code>${code}</Code></Error>`;
  response.writeHead(status, { 'Content-Length': body.length }).end(body);
}

/** Whether the conditions of a request hold for what is there; else the status. */
function conditionFault(
  { headers, method }: IncomingMessage,
  there: Buffer | undefined,
): number | null {
  const [match, none] = [headers['if-match'], headers['if-none-match']];
  if (match !== undefined && there === undefined) return 404;
  if (match !== undefined && match !== '*' && match !== etagOf(there!)) return 412;
  if (none === undefined || there === undefined) return null;
  if (none !== '*' && none !== etagOf(there)) return null;
  return method === 'GET' || method === 'HEAD' ? 304 : 412;
}

function serve(
  request: IncomingMessage,
  response: ServerResponse,
  objects: Map<string, Buffer>,
  body: Buffer,
  fault: Fault | null,
): void {
  const [method, path] = [request.method ?? '', request.url ?? ''];
  const there = objects.get(path);
  if (method === 'PUT') {
    objects.set(path, body);
    response.writeHead(200, { ETag: etagOf(body), 'Content-Length': 0 }).end();
  } else if (method === 'DELETE') {
    objects.delete(path);
    response.writeHead(204).end();
  } else if (there === undefined) refuse(response, 404, 'NoSuchKey');
  else {
    response.writeHead(200, { ETag: etagOf(there), 'Content-Length': there.length });
    if (method === 'HEAD') response.end();
    else if (fault === 'stalled') response.flushHeaders();
    else if (fault === 'truncated') {
      response.write(there.subarray(0, there.length / 2), () => response.destroy());
    } else response.end(fault === 'wrong' ? Buffer.alloc(there.length, 7) : there);
  }
}

interface Asking {
  /** Refuses what is not signed; a plain web server else. */
  readonly signed: boolean;
  /** Heeds If-Match and If-None-Match where something is written. */
  readonly conditional?: boolean;
}

/** Starts one on a free port; it ends with the test. */
export async function startStoreServer(
  context: TestContext,
  { signed, conditional = true }: Asking,
): Promise<StoreServer> {
  const objects = new Map<string, Buffer>();
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request
      .on('data', (part: Buffer) => parts.push(part))
      .on('end', () => {
        const [method, path] = [request.method ?? '', request.url ?? ''];
        const body = Buffer.concat(parts);
        asked.push(`${method} ${path}`);
        const fault = told.fault(method, path);
        if (fault === 'silent') return;
        if (fault !== null && typeof fault === 'object')
          return refuse(response, fault.status, fault.code);
        const unsigned = signed ? signatureFault(request, body) : null;
        if (unsigned !== null) return refuse(response, 403, unsigned);
        const condition =
          conditional || method === 'GET' ? conditionFault(request, objects.get(path)) : null;
        if (condition === 404) return refuse(response, 404, 'NoSuchKey');
        if (condition !== null)
          return refuse(response, condition, condition === 412 ? 'PreconditionFailed' : '');
        serve(request, response, objects, body, fault);
      });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  context.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const told: StoreServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    objects,
    asked,
    fault: () => null,
  };
  return told;
}
