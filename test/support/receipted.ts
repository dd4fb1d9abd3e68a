/** Answers to lookups and carts with the receipts that came with them. */
import { get as httpGet } from 'node:http';
import { text } from 'node:stream/consumers';

export interface Receipted {
  readonly status: number;
  readonly body: string;
  readonly receipt: string | null;
  readonly dataset: string | null;
}

export async function receiptedOf(response: Response): Promise<Receipted> {
  const { status, headers } = response;
  return {
    status,
    body: await response.text(),
    receipt: headers.get('x-situs-receipt'),
    dataset: headers.get('x-situs-dataset'),
  };
}

/** A request whose query has bytes beyond ASCII as they are. */
export function getBare(base: string, path: string, key: string): Promise<Receipted> {
  return new Promise((resolve, reject) => {
    const bare = Buffer.from(path).toString('latin1');
    httpGet(base, { path: bare, headers: { 'x-api-key': key } }, (response) => {
      void text(response).then((body) =>
        resolve({
          status: response.statusCode ?? 0,
          body,
          receipt: String(response.headers['x-situs-receipt'] ?? ''),
          dataset: null,
        }),
      );
    }).on('error', reject);
  });
}
