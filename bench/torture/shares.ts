/**
 * One account stores everything that the service keeps for it, until it is refused; meanwhile
 * another account writes and is never refused. In the end, what is used is within the stated
 * shares.
 */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { INVITATIONS_ACCOUNT_DAY_MAX } from '../../src/store/invited.js';
import { NEXUS_LOCATIONS_MAX } from '../../src/store/nexus-count.js';
import { shareBytes, SHARE_BYTES_MAX } from '../../src/store/share.js';
import { Store } from '../../src/store/store.js';
import { Simulator, SIMULATED_KEY } from '../../src/provider/simulator/server.js';
import { buildRecipe } from '../../test/support/built-dataset.js';
import {
  ELMTON,
  KEYS,
  newMerchantDir,
  removeDirs,
  startMerchants,
  type Answered,
  type MerchantService,
} from '../../test/support/merchant-service.js';
import { CONNECTION_ID } from '../../test/support/relay-service.js';
import { EveryOperation } from './share-operations.js';
import type { CaseOutcome } from './service.js';

/** A small limit for the jobs of an account, so that it is reached within seconds. */
const JOBS_BYTES = 20_000_000;
const ERRORS_BYTES = 2_000_000;
/** If there is no refusal after so many requests of one kind, that is a fault. */
const REQUESTS_MAX = 200_000;
const AT_ONCE = 64;
/** How much more than its records the pages of a store may take. */
const PAGES = 2.5;
const ROWS = 200_000;
/**
 * Makes a body of 345 KB and a result of some five megabytes, so that a few jobs reach the limit.
 */
const ANSWERED_ROWS = 15_000;
const PAUSE_MS = 50;

const LONG = '\u{1f9fe}'.repeat(255);

type Report = (line: string) => void;

interface Refusal {
  readonly requests: number;
  readonly answer: Answered | null;
}

/** Sends requests until one is refused. */
async function untilRefused(send: (index: number) => Promise<Answered>): Promise<Refusal> {
  for (let from = 0; from < REQUESTS_MAX; from += AT_ONCE) {
    const answers = await Promise.all(
      Array.from({ length: AT_ONCE }, (_, index) => send(from + index)),
    );
    const answer = answers.find(({ status }) => status >= 300);
    if (answer !== undefined) return { requests: from + AT_ONCE, answer };
  }
  return { requests: REQUESTS_MAX, answer: null };
}

function create(service: MerchantService, index: number, name: string): Promise<Answered> {
  return service.post('/merchant/create', {
    merchantName: LONG,
    contactFirst: LONG,
    contactLast: LONG,
    merchantType: 'self-managed',
    referenceId: `${name} ${index}`,
  });
}

function upload(
  { base }: MerchantService,
  key: string,
  body: Uint8Array,
  packed: boolean,
): Promise<Response> {
  return fetch(`${base}/bulk/jobs`, {
    method: 'POST',
    body,
    headers: {
      'X-API-KEY': key,
      'Content-Type': 'application/x-ndjson',
      ...(packed ? { 'Content-Encoding': 'gzip' } : {}),
    },
  });
}

/** Uploads a packed body of rows again and again, until one upload is refused. */
async function jobsUntilRefused(service: MerchantService, body: Uint8Array): Promise<Refusal> {
  for (let requests = 1; requests <= 1_000; requests += 1) {
    const response = await upload(service, KEYS.alpha, body, true);
    const text = await response.text();
    if (response.status !== 202) {
      const parsed = JSON.parse(text) as Answered['body'];
      const { status, headers } = response;
      return { requests, answer: { status, headers, text, body: parsed } };
    }
  }
  return { requests: 1_000, answer: null };
}

/** Removes every job of the account that may be removed. */
async function removeJobs({ base }: MerchantService): Promise<void> {
  const headers = { 'X-API-KEY': KEYS.alpha };
  const listed = await fetch(`${base}/bulk/jobs`, { headers });
  const { jobs } = (await listed.json()) as { readonly jobs: readonly { readonly id: string }[] };
  // The first call cancels a job that has not ended, and the second one removes it.
  for (const { id } of [...jobs, ...jobs]) {
    await (await fetch(`${base}/bulk/jobs/${id}`, { method: 'DELETE', headers })).text();
  }
}

/** Another account that writes; `stop` resolves with the number of its writes. */
function bystander(service: MerchantService, wrong: string[]): { stop(): Promise<number> } {
  let [writes, stopped] = [0, false];
  const options = { key: KEYS.beta };
  const check = (name: string, status: number, text: string): void => {
    writes += 1;
    if (status >= 300) wrong.push(`another account: ${name} was answered ${status} ${text}`);
  };
  const run = (async (): Promise<void> => {
    while (!stopped) {
      const made = await service.post(
        '/merchant/create',
        { merchantName: 'Other', merchantType: 'self-managed' },
        { ...options, idempotencyKey: `other ${writes}` },
      );
      check('create', made.status, made.text);
      const { merchantId } = made.body;
      const nexus = await service.post(
        '/merchant/nexus/create',
        { merchantId, locations: [ELMTON] },
        options,
      );
      check('nexus', nexus.status, nexus.text);
      const job = await upload(service, KEYS.beta, Buffer.from('{"postalcode":"91010"}\n'), false);
      const text = await job.text();
      // It may reach its own limit of jobs, which is not tested here.
      if (job.status !== 429) check('job', job.status, text);
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  })();
  return {
    stop: async () => {
      stopped = true;
      await run;
      return writes;
    },
  };
}

/** Bytes of the files below a folder; shares do not include the folders themselves. */
function diskOf(dir: string): number {
  return readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .map((name) => statSync(join(dir, name)))
    .reduce((bytes, each) => bytes + (each.isFile() ? each.size : 0), 0);
}

/** A self-managed merchant of the account, and one that the provider knows. */
async function merchantsOf(service: MerchantService): Promise<readonly string[]> {
  const made: string[] = [];
  for (const merchantType of ['self-managed', 'provider']) {
    const { body } = await service.post('/merchant/create', { merchantName: 'Own', merchantType });
    made.push(String(body['merchantId']));
  }
  await service.post('/merchant/credentials/set', {
    merchantId: made[1],
    apiKey: SIMULATED_KEY,
    connectionId: CONNECTION_ID,
  });
  return made;
}

/** Uses up each share, until requests are refused with the limit of that share. */
async function fillAll(service: MerchantService, report: Report, wrong: string[]): Promise<void> {
  const told = (name: string, { requests, answer }: Refusal, limit: number | null): void => {
    const { status = 0, body = {} } = answer ?? {};
    report(`${name}: ${requests} requests, then ${status}, limit ${String(body['limit'])}`);
    const refused = status === 429 || status === 507;
    const fits = limit === null ? typeof body['limit'] === 'number' : body['limit'] === limit;
    if (!refused || !fits) wrong.push(`${name}: ${answer?.text ?? 'was never refused'}`);
  };
  const broken = gzipSync(Buffer.from('[]\n'.repeat(ROWS)));
  told('jobs', await jobsUntilRefused(service, broken), null);
  await removeJobs(service);
  const answered = gzipSync(Buffer.from('{"postalcode":"91010"}\n'.repeat(ANSWERED_ROWS)));
  told('disk of jobs', await jobsUntilRefused(service, answered), JOBS_BYTES);
  told(
    'invitations',
    await untilRefused((index) =>
      service.post('/merchant/create', {
        merchantName: 'Shop',
        contactEmail: `someone-${index}@example.com`,
        sendProviderInvite: true,
      }),
    ),
    INVITATIONS_ACCOUNT_DAY_MAX,
  );
  const { body } = await create(service, 0, 'first');
  const { merchantId } = body;
  told(
    'nexus',
    await untilRefused(() =>
      service.post('/merchant/nexus/create', {
        merchantId,
        locations: Array.from({ length: 25 }, () => ELMTON),
      }),
    ),
    NEXUS_LOCATIONS_MAX,
  );
  const update = { merchantName: 'Shop' };
  told(
    'kept answers',
    await untilRefused((index) =>
      service.post('/merchant/update', { merchantId, update }, { idempotencyKey: `kept ${index}` }),
    ),
    SHARE_BYTES_MAX.kept,
  );
  told(
    'merchants',
    await untilRefused((index) => create(service, index, 'shop')),
    SHARE_BYTES_MAX.merchants,
  );
}

/** Runs the case in a folder of its own. */
export async function shares(report: Report): Promise<CaseOutcome> {
  const built = buildRecipe('fixture');
  const varDir = await newMerchantDir(built.varDir);
  const wrong: string[] = [];
  const simulator = await Simulator.start({});
  const service = await startMerchants(
    varDir,
    {},
    {
      SITUS_ALLOW_PRIVATE_NETWORK: '1',
      SITUS_PROVIDER_URL: simulator.url,
      SITUS_JOB_ACCOUNT_BYTES_MAX: String(JOBS_BYTES),
      SITUS_JOB_ERROR_BYTES_MAX: String(ERRORS_BYTES),
    },
  );
  try {
    const other = bystander(service, wrong);
    const every = await EveryOperation.of(service, await merchantsOf(service), report);
    await every.run();
    for (const name of every.names) {
      if (!every.taken.has(name)) wrong.push(`${name}: never taken`);
    }
    await fillAll(service, report, wrong);
    // Runs them once more when the shares are used up, to find anything that is stored beyond them.
    await every.run();
    wrong.push(...every.wrong);
    const writes = await other.stop();
    const store = await Store.open(varDir);
    const used = { kept: 0, merchants: 0 };
    for (const kind of ['kept', 'merchants'] as const) {
      used[kind] = shareBytes(store, kind, 'alpha');
      if (used[kind] > SHARE_BYTES_MAX[kind]) wrong.push(`${kind}: ${used[kind]} bytes`);
    }
    const bytes = store.bytes();
    await store.close();
    const most = PAGES * (SHARE_BYTES_MAX.kept + SHARE_BYTES_MAX.merchants);
    if (bytes > most) wrong.push(`the store has ${bytes} bytes in use`);
    const disk = diskOf(join(varDir, 'jobs'));
    if (disk > JOBS_BYTES * 1.1) wrong.push(`the jobs take ${disk} bytes`);
    const summary =
      `merchants ${used.merchants}, kept ${used.kept}, store ${bytes}, jobs ${disk} ` +
      `bytes, writes of another ${writes}`;
    return { summary, wrong };
  } finally {
    await service.stop();
    await simulator.close();
    removeDirs(varDir);
    built.remove();
  }
}
