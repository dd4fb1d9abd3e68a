/** The body of an event. */
import type { EventRecord } from '../store/outbox-record.js';

/** "2026-03-01 09:30:00.000Z": ISO 8601 with a space in it. */
export function eventTime(at: number): string {
  return new Date(at).toISOString().replace('T', ' ');
}

/** `{event, timestamp, data}`; the same bytes on every attempt. `data` is JSON. */
export function eventBody(
  { type, createdAt }: Pick<EventRecord, 'type' | 'createdAt'>, data: string,
): Uint8Array {
  const head = `"event":${JSON.stringify(type)},"timestamp":"${eventTime(createdAt)}"`;
  return Buffer.from(`{${head},"data":${data}}`, 'utf8');
}
