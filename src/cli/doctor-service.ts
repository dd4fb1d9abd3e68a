/** What `situs doctor` finds of the server on the store: what its `/system/ready` says. */
import { Agent, request } from 'undici';
import { localUrl, type Config } from '../config.js';
import { isUnready, UNREADY } from '../api/system/ready.js';
import { messageOf } from '../log.js';
import { servingProcess } from '../store/server-claim.js';
import type { Checked, Finding } from './doctor-checks.js';

const ANSWER_MS_MAX = 5_000;

/** Reasons that pass by themselves. */
const PASSING: ReadonlySet<string> = new Set(['starting', 'draining']);

function reasonsOf(body: unknown): readonly unknown[] {
  return typeof body === 'object' && body !== null && 'reasons' in body
    && Array.isArray(body.reasons) ? body.reasons : [];
}

/** A sentence for each reason that a server gave for not being ready. */
export function unreadyFindings(server: string, body: unknown): readonly Finding[] {
  const reasons = reasonsOf(body);
  if (reasons.length === 0) {
    return [{ level: 'fault', text: `${server} says that it is not ready, and not why` }];
  }
  return reasons.map((reason) => ({
    level: PASSING.has(String(reason)) ? 'note' : 'fault',
    text: `${server} is not ready: ${isUnready(reason) ? UNREADY[reason] : String(reason)}`,
  }));
}

async function ask(server: string, url: string): Promise<readonly Finding[]> {
  try {
    const { statusCode, body } = await request(`${url}/system/ready`, {
      // Asked by the address of this machine, which no certificate is for; nothing secret is told.
      dispatcher: new Agent({ connect: { rejectUnauthorized: false } }),
      headersTimeout: ANSWER_MS_MAX, bodyTimeout: ANSWER_MS_MAX,
    });
    if (statusCode === 200) {
      await body.dump();
      return [{ level: 'ok', text: `${server} is ready` }];
    }
    return unreadyFindings(server, await body.json());
  } catch (error) {
    return [{ level: 'fault', text: `${server} does not answer (${messageOf(error)})` }];
  }
}

function addressOf({ host, port, tls }: Config): string | null {
  return port === 0 ? null : localUrl(host, port, tls !== null);
}

/** Whether a server runs on the store, and whether it is ready. */
export async function service({ config, store }: Checked): Promise<readonly Finding[]> {
  const pid = store === null ? null : servingProcess(store);
  if (pid === null) return [{ level: 'note', text: 'no server runs on this store' }];
  const url = addressOf(config);
  return url === null
    ? [{ level: 'note', text: `process ${pid} serves this store, on a port PORT does not tell` }]
    : ask(`process ${pid}, on ${url},`, url);
}
