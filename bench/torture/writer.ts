/**
 * A client that writes, remembers the acknowledged writes, and compares them with what it reads.
 */
import { randomUUID } from 'node:crypto';
import type { Answer } from './service.js';

/** With more merchants than this, one is deleted instead of made. */
const MERCHANTS_MAX = 8;
const PLACES_MAX = 3;

/** The service to write to. */
export interface WriteTarget {
  /** Rejects if it is unknown whether the write was carried out. */
  post(path: string, body: object, idempotencyKey?: string): Promise<Answer>;
}

interface Merchant {
  name: string;
  readonly selfManaged: boolean;
  credentials: { readonly apiKey: string; readonly connectionId: string } | null;
  readonly places: string[];
}

interface Operation {
  readonly path: string;
  readonly body: object;
  readonly status: number;
  readonly idempotencyKey: string;
  /** Notes the effect of the operation. */
  apply(answer: Readonly<Record<string, unknown>>): void;
}

function membersOf(text: string): Readonly<Record<string, unknown>> {
  return JSON.parse(text) as Readonly<Record<string, unknown>>;
}

export class Writer {
  acknowledged = 0;
  repeated = 0;
  readonly lost: string[] = [];
  readonly wrong: string[] = [];
  /** The merchants that this client knows to be stored. */
  readonly merchants = new Map<string, Merchant>();
  readonly deleted = new Set<string>();
  readonly #service: WriteTarget;
  readonly #random: () => number;
  #pending: Operation | null = null;

  constructor(service: WriteTarget, random: () => number) {
    this.#service = service;
    this.#random = random;
  }

  /** Writes until the server has ended. */
  async run(): Promise<void> {
    for (;;) {
      const operation = this.#next();
      this.#pending = operation;
      let answer: Answer;
      try {
        answer = await this.#send(operation);
      } catch {
        // Without an answer it is unknown whether the write was carried out.
        return;
      }
      this.#settle(operation, answer);
    }
  }

  /** Sends the unanswered write twice more: the second answer must equal the first. */
  async repeat(): Promise<void> {
    const operation = this.#pending;
    if (operation === null) return;
    const first = await this.#send(operation);
    const second = await this.#send(operation);
    if (second.text !== first.text || second.status !== first.status || !second.replayed) {
      this.wrong.push(`${operation.path} sent again was answered anew: ${second.text}`);
    }
    this.repeated += 1;
    this.#settle(operation, first);
  }

  /** Checks everything that was acknowledged. `listed` maps ids of merchants to their names. */
  async check(listed: ReadonlyMap<string, string>): Promise<void> {
    for (const id of this.deleted) {
      if (listed.has(id)) this.lost.push(`the deletion of merchant ${id}`);
    }
    for (const [id, merchant] of this.merchants) {
      const name = listed.get(id);
      if (name === undefined) this.lost.push(`merchant ${id}`);
      else if (name !== merchant.name) {
        this.lost.push(`the name ${merchant.name} of ${id}: ${name}`);
      } else if (merchant.selfManaged) await this.#checkPlaces(id, merchant);
      else await this.#checkCredentials(id, merchant);
    }
  }

  #send({ path, body, idempotencyKey }: Operation): Promise<Answer> {
    return this.#service.post(path, body, idempotencyKey);
  }

  #settle(operation: Operation, { status, text }: Answer): void {
    this.#pending = null;
    if (status !== operation.status) {
      this.wrong.push(`${operation.path} was answered ${status}: ${text}`);
      return;
    }
    operation.apply(membersOf(text));
    this.acknowledged += 1;
  }

  #next(): Operation {
    const all = [...this.merchants];
    const [id, merchant] = all[Math.floor(this.#random() * all.length)] ?? [];
    const pick = this.#random();
    if (id === undefined || merchant === undefined || (all.length < MERCHANTS_MAX && pick < 0.3)) {
      return this.#create();
    }
    if (all.length >= MERCHANTS_MAX && pick < 0.3) return this.#delete(id);
    if (pick < 0.5) return this.#rename(id, merchant);
    if (!merchant.selfManaged) return this.#connect(id, merchant);
    return merchant.places.length < PLACES_MAX
      ? this.#settleAt(id, merchant)
      : this.#rename(id, merchant);
  }

  #operation(path: string, body: object, apply: Operation['apply'], status = 200): Operation {
    return { path, body, status, apply, idempotencyKey: randomUUID() };
  }

  #create(): Operation {
    const name = `merchant ${randomUUID()}`;
    const selfManaged = this.#random() < 0.5;
    const body = { merchantName: name, merchantType: selfManaged ? 'self-managed' : 'provider' };
    return this.#operation(
      '/merchant/create',
      body,
      (answer) => {
        const id = String(answer['merchantId']);
        this.merchants.set(id, { name, selfManaged, credentials: null, places: [] });
      },
      201,
    );
  }

  #rename(merchantId: string, merchant: Merchant): Operation {
    const name = `renamed ${randomUUID()}`;
    const body = { merchantId, update: { merchantName: name } };
    return this.#operation('/merchant/update', body, () => {
      merchant.name = name;
    });
  }

  #delete(merchantId: string): Operation {
    return this.#operation('/merchant/delete', { merchantId }, () => {
      this.merchants.delete(merchantId);
      this.deleted.add(merchantId);
    });
  }

  #connect(merchantId: string, merchant: Merchant): Operation {
    const credentials = { apiKey: `key-${randomUUID()}`, connectionId: randomUUID() };
    const body = { merchantId, ...credentials };
    return this.#operation('/merchant/credentials/set', body, () => {
      merchant.credentials = credentials;
    });
  }

  #settleAt(merchantId: string, merchant: Merchant): Operation {
    const name = `place ${randomUUID()}`;
    const place = { name, line1: '120 Main St', city: 'Elmton', state: 'QA', zip: '91010' };
    const body = { merchantId, locations: [place] };
    return this.#operation('/merchant/nexus/create', body, () => {
      merchant.places.push(name);
    });
  }

  async #checkCredentials(merchantId: string, { credentials }: Merchant): Promise<void> {
    const { status, text } = await this.#service.post('/merchant/credentials/get', { merchantId });
    if (credentials === null) {
      if (status !== 404) this.wrong.push(`${merchantId} has credentials nobody acknowledged`);
      return;
    }
    const found = status === 200 ? membersOf(text) : {};
    if (
      found['apiKey'] !== credentials.apiKey ||
      found['connectionId'] !== credentials.connectionId
    ) {
      this.lost.push(`the credentials of ${merchantId} (${status})`);
    }
  }

  async #checkPlaces(merchantId: string, { places }: Merchant): Promise<void> {
    const { text } = await this.#service.post('/merchant/nexus/list', { merchantId });
    const found: unknown = JSON.parse(text);
    const rows = Array.isArray(found) ? found : membersOf(text)['locations'];
    const names = Array.isArray(rows) ? rows.map((row: { name?: string }) => row.name) : [];
    for (const name of places) {
      if (!names.includes(name)) this.lost.push(`${name} of ${merchantId}`);
    }
    if (names.length > places.length) this.wrong.push(`${merchantId} has a location twice`);
  }
}
