/**
 * The server is killed at random moments of mixed writes, over and over. After each start every
 * acknowledged write must be there, and a write without an answer must have exactly one effect when
 * it is sent again with its Idempotency-Key.
 */
import { seeded } from '../case/case.js';
import type { TortureInput, TortureResult } from './case.js';
import { merchantNames, TortureService } from './service.js';
import { checkStore } from './store-check.js';
import { Writer, type WriteTarget } from './writer.js';

const CLIENTS = 8;
const KILL_MS_MIN = 10;
const KILL_MS_MAX = 1_000;
/** The command makes a key in one of so many rounds. */
const KEY_ROUNDS = 4;
const REPORT_ROUNDS = 10;

/**
 * A writer with an account of its own: the answers kept for its Idempotency-Keys in a whole run
 * need more than the share of one account.
 */
interface Client {
  readonly key: string;
  readonly writer: Writer;
}

interface Torture {
  readonly service: TortureService;
  readonly clients: readonly Client[];
  /** Ids of keys that the command has acknowledged. */
  readonly keys: Set<string>;
  readonly lost: string[];
  readonly wrong: string[];
}

async function makeKey({ service, keys, wrong }: Torture): Promise<void> {
  try {
    const text = await service.command(['key', 'create', '--plan', 'pro', '--json']);
    keys.add((JSON.parse(text) as { id: string }).id);
  } catch (error) {
    wrong.push(`situs key create failed: ${String(error)}`);
  }
}

async function makeClients(
  service: TortureService,
  random: () => number,
  ids: Set<string>,
): Promise<readonly Client[]> {
  const clients: Client[] = [];
  for (let index = 0; index < CLIENTS; index += 1) {
    const { id, key } = await service.key(`writer-${index}`);
    ids.add(id);
    const target: WriteTarget = {
      post: (path, body, idempotencyKey) => service.post(path, body, idempotencyKey, key),
    };
    clients.push({ key, writer: new Writer(target, random) });
  }
  return clients;
}

/** Names of the merchants that a key may see, by id. */
async function listed(
  { service, wrong }: Torture,
  key: string,
): Promise<ReadonlyMap<string, string>> {
  const { status, text } = await service.get('/merchant/list', key);
  if (status !== 200) wrong.push(`/merchant/list was answered ${status}`);
  return merchantNames(text);
}

async function checkOffline({ service, keys, lost, wrong }: Torture): Promise<void> {
  const found = await checkStore(service.varDir);
  wrong.push(...found.wrong);
  for (const id of keys) if (!found.keys.has(id)) lost.push(`key ${id}`);
}

async function checkOnline(torture: Torture): Promise<void> {
  const { service, clients, wrong } = torture;
  for (const { writer } of clients) await writer.repeat();
  for (const { key, writer } of clients) {
    const merchants = await listed(torture, key);
    await writer.check(merchants);
    const more = merchants.size - writer.merchants.size;
    if (more > 0) wrong.push(`${more} merchants nobody acknowledged`);
  }
  const health = await service.get('/system/health');
  if (health.status !== 200) wrong.push(`/system/health was answered ${health.status}`);
}

async function round(torture: Torture, waitMs: number, withKey: boolean): Promise<void> {
  const { service, clients } = torture;
  const running = clients.map(({ writer }) => writer.run());
  const key = withKey ? makeKey(torture) : Promise.resolve();
  await new Promise((resolve) => setTimeout(resolve, waitMs));
  await service.kill();
  await Promise.all(running);
  await key;
  await checkOffline(torture);
  await service.start();
  await checkOnline(torture);
}

function resultOf({ clients, lost, wrong }: Torture, kills: number): TortureResult {
  const writers = clients.map(({ writer }) => writer);
  return {
    kills,
    acknowledged: writers.reduce((sum, writer) => sum + writer.acknowledged, 0),
    repeated: writers.reduce((sum, writer) => sum + writer.repeated, 0),
    lost: [...lost, ...writers.flatMap((writer) => writer.lost)],
    wrong: [...wrong, ...writers.flatMap((writer) => writer.wrong)],
  };
}

/** Kills the server `kills` times. */
export async function killCase({ kills, seed, report }: TortureInput): Promise<TortureResult> {
  const random = seeded(seed);
  const service = new TortureService();
  try {
    service.prepare();
    await service.start();
    const keys = new Set<string>();
    const clients = await makeClients(service, random, keys);
    const torture: Torture = { service, clients, keys, lost: [], wrong: [] };
    for (let done = 1; done <= kills; done += 1) {
      const waitMs = KILL_MS_MIN + random() * (KILL_MS_MAX - KILL_MS_MIN);
      await round(torture, waitMs, done % KEY_ROUNDS === 1);
      const { acknowledged, repeated, lost, wrong } = resultOf(torture, done);
      if (done % REPORT_ROUNDS === 0 || lost.length > 0 || wrong.length > 0) {
        report(
          `${done} kills, ${acknowledged} acknowledged, ${repeated} sent again, ` +
            `${lost.length} lost, ${wrong.length} wrong`,
        );
      }
      if (lost.length > 0 || wrong.length > 0) return resultOf(torture, done);
    }
    return resultOf(torture, kills);
  } finally {
    await service.remove();
  }
}
