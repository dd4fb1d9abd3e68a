/** Requests of node:http, whose answers come as they are sent: nothing unpacks them. */
import { request, type IncomingHttpHeaders } from 'node:http';

export interface PlainAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** Sends one on a connection of its own; `signal` ends the wait for the answer. */
export function sendPlain(
  url: string,
  method: string,
  headers: Readonly<Record<string, string>>,
  body: string | Buffer,
  signal?: AbortSignal,
): Promise<PlainAnswer> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, agent: false, headers, ...(signal && { signal }) });
    sent.on('error', reject);
    sent.on('response', (response) => {
      const parts: Buffer[] = [];
      response.on('error', reject);
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: Buffer.concat(parts),
        }),
      );
    });
    sent.end(body);
  });
}
