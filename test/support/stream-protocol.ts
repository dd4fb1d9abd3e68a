/** What tests of the protocol of streams share. */
import assert from 'node:assert/strict';
import { StreamClient, wasRefused, type StreamAsk } from '../../bench/load/stream-client.js';
import { STREAM_KEY, type StreamService } from './stream-service.js';

export const TIMES = { idleMs: 60_000, resumeMs: 30_000 };

/** A line of a stream. */
export interface Line {
  readonly header?: { readonly resume: string; readonly received: number; readonly job: string };
  readonly trailer?: {
    readonly complete: boolean; readonly rows: number;
    readonly stopped: { readonly code: number; readonly message: string; readonly line: number } | null;
  };
  readonly seq?: number;
}

/** The next line. */
export async function line(client: StreamClient): Promise<Line> {
  const text = await client.next();
  assert.ok(text !== null, 'the stream has ended');
  return JSON.parse(text) as Line;
}

/** The header, which comes first. */
export async function header(client: StreamClient): Promise<NonNullable<Line['header']>> {
  const { header: found } = await line(client);
  assert.ok(found !== undefined);
  return found;
}

/** Everything to the end: the trailer and how the connection closed. */
export async function ending(client: StreamClient): Promise<{
  readonly lines: readonly string[];
  readonly trailer: NonNullable<Line['trailer']>;
  readonly code: number;
}> {
  const lines = await client.rest();
  const { trailer } = JSON.parse(lines.at(-1) ?? '{}') as Line;
  assert.ok(trailer !== undefined, lines.join('\n'));
  return { lines, trailer, code: (await client.ended).code };
}

/** The status that a stream is refused with. */
export async function refused(service: StreamService, more: Partial<StreamAsk> = {}): Promise<number> {
  const opened = await StreamClient.open({
    port: service.port, key: STREAM_KEY, transport: 'socket', ...more,
  });
  assert.ok(wasRefused(opened));
  const problem = JSON.parse(opened.body) as { readonly status: number };
  assert.equal(problem.status, opened.status);
  assert.ok(opened.headers['x-ratelimit-limit'] !== undefined);
  return opened.status;
}

/** A lookup. */
export function message(id: number): string {
  return JSON.stringify({ id, postalcode: '91020' });
}
