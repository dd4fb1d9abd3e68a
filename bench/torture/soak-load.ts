/** The load of the case `soak`: all kinds of requests at once, for a given time. */
import { randomUUID } from 'node:crypto';
import { drawing, POOL_HEADER, type PoolRow } from './row-pool.js';
import { BENCH_KEY } from '../load/situs-server.js';
import { StreamClient, wasRefused } from '../load/stream-client.js';

/** How many rows one bulk file has. */
const BULK_ROWS = 20_000;
const BULK_CARTS = 2_000;
const STREAM_MESSAGES = 1_000;
const STREAM_UNANSWERED_MAX = 64;
const CART_LINES_MAX = 40;
const VERSIONS = [10, 20, 30, 40, 50, 60] as const;
const PATIENCE_MS = 60_000;
const FAULTS_TOLD_MAX = 10;

interface SoakTarget {
  readonly port: number;
  readonly pool: readonly PoolRow[];
  readonly random: () => number;
  /** When every client stops, in milliseconds of performance.now(). */
  readonly until: number;
}

export class SoakLoad {
  readonly counts = new Map<string, number>();
  readonly wrong: string[] = [];
  readonly #target: SoakTarget;
  readonly #next: () => number;

  constructor(target: SoakTarget) {
    this.#target = target;
    this.#next = drawing(target.pool, Math.floor(target.random() * 1e9));
  }

  /** Runs all clients to the end. */
  async run(): Promise<void> {
    await Promise.all([
      ...Array.from({ length: 6 }, () => this.#repeat('lookups', () => this.#lookup())),
      ...Array.from({ length: 2 }, () => this.#repeat('carts', () => this.#cart())),
      this.#repeat('bulk files', () => this.#bulk('text/csv', 'text/csv')),
      this.#repeat('bulk files', () => this.#bulk('text/csv', 'application/x-ndjson')),
      this.#repeat('bulk cart files', () => this.#bulkCarts()),
      this.#repeat('streams', () => this.#stream()),
      this.#repeat('merchants', () => this.#merchant()),
      this.#repeat('other', () => this.#other()),
    ]);
  }

  #wrong(text: string): void {
    if (this.wrong.length < FAULTS_TOLD_MAX) this.wrong.push(text);
  }

  async #repeat(name: string, once: () => Promise<void>): Promise<void> {
    while (performance.now() < this.#target.until && this.wrong.length < FAULTS_TOLD_MAX) {
      try {
        await once();
      } catch (error) {
        this.#wrong(`${name}: ${String(error)}`);
      }
      this.counts.set(name, (this.counts.get(name) ?? 0) + 1);
    }
  }

  async #ask(path: string, init: RequestInit, statuses: readonly number[]): Promise<string> {
    const answer = await fetch(`http://127.0.0.1:${this.#target.port}${path}`, {
      ...init,
      signal: AbortSignal.timeout(PATIENCE_MS),
      headers: { 'X-API-KEY': BENCH_KEY, ...init.headers },
    });
    const text = await answer.text();
    if (!statuses.includes(answer.status)) {
      this.#wrong(`${path.slice(0, 80)} was answered ${answer.status} ${text.slice(0, 200)}`);
    }
    return text;
  }

  #row(): PoolRow {
    return this.#target.pool[this.#next()]!;
  }

  /** A query by door, point or ZIP; many of them were not requested before. */
  #query(): string {
    const { random } = this.#target;
    const pick = random();
    if (pick < 0.15) return `postalcode=${String(Math.floor(random() * 99_999)).padStart(5, '0')}`;
    if (pick < 0.3) {
      return `lat=${(25 + random() * 24).toFixed(6)}&lng=${(-124 + random() * 57).toFixed(6)}`;
    }
    const { query } = this.#row();
    if (query === null) return 'postalcode=00000';
    return pick < 0.45 ? query.replace(/=\d+/, `=${Math.floor(random() * 9_999)}`) : query;
  }

  async #lookup(): Promise<void> {
    const { random } = this.#target;
    const version = random() < 0.6 ? 60 : VERSIONS[Math.floor(random() * VERSIONS.length)]!;
    const more = `${random() < 0.1 ? '&format=xml' : ''}${random() < 0.1 ? '&taxabilityCode=20010' : ''}`;
    await this.#ask(`/request/v${version}?${this.#query()}${more}`, {}, [200, 422]);
  }

  #parts(): { readonly line1: string; city: string; state: string; zip: string } {
    for (;;) {
      const [, line1 = '', city = '', state = '', zip = ''] =
        /^([^,"]+),([^,"]+),([A-Z]{2}),(\d{5}),/.exec(this.#row().body.toString()) ?? [];
      if (zip !== '') return { line1, city, state, zip };
    }
  }

  #place(): { readonly address: string } {
    const { line1, city, state, zip } = this.#parts();
    return { address: `${line1}, ${city}, ${state} ${zip}` };
  }

  #cartItem(): object {
    const { random } = this.#target;
    const lines = 1 + Math.floor(random() ** 3 * CART_LINES_MAX);
    return {
      customerId: 'c',
      currency: { currencyCode: 'USD' },
      origin: this.#place(),
      destination: this.#place(),
      lineItems: Array.from({ length: lines }, (_, index) => ({
        itemId: `sku-${index}`,
        price: (1 + Math.floor(random() * 10_000)) / 100,
        quantity: 1,
      })),
    };
  }

  /** A cart of a merchant, with addresses in parts and an index in each line. */
  #merchantItem(): object {
    return {
      customerId: 'c',
      currency: { currencyCode: 'USD' },
      origin: this.#parts(),
      destination: this.#parts(),
      lineItems: [{ index: 0, itemId: 'sku-0', price: 12.5, quantity: 1 }],
    };
  }

  /** A cart that breaks a rule of its shape is not calculated, which is a fault of the load. */
  #understood(answer: string): void {
    if (answer.includes('validation failed')) this.#wrong(`a cart was refused: ${answer}`);
  }

  async #cart(): Promise<void> {
    const body = JSON.stringify({ items: [this.#cartItem()] });
    const text = await this.#ask(
      '/calculate/cart',
      {
        method: 'POST',
        body,
        headers: { 'Content-Type': 'application/json' },
      },
      [200, 400, 422],
    );
    this.#understood(text);
  }

  async #bulk(type: string, accept: string): Promise<void> {
    const rows = [POOL_HEADER];
    for (let id = 0; id < BULK_ROWS; id += 1) rows.push(`${id},${this.#row().body.toString()}\n`);
    await this.#ask(
      '/bulk/lookup',
      {
        method: 'POST',
        body: rows.join(''),
        headers: { 'Content-Type': type, Accept: accept },
      },
      [200],
    );
  }

  async #bulkCarts(): Promise<void> {
    const rows = Array.from(
      { length: BULK_CARTS },
      (_, id) => `${JSON.stringify({ id, items: [this.#cartItem()] })}\n`,
    );
    await this.#ask(
      '/bulk/cart',
      {
        method: 'POST',
        body: rows.join(''),
        headers: { 'Content-Type': 'application/x-ndjson', Accept: 'application/x-ndjson' },
      },
      [200],
    );
  }

  async #stream(): Promise<void> {
    const client = await StreamClient.open({
      port: this.#target.port,
      key: BENCH_KEY,
      transport: 'socket',
    });
    if (wasRefused(client)) {
      this.#wrong(`stream refused with ${client.status}: ${client.body}`);
      return;
    }
    await client.next();
    let received = 0;
    for (let sent = 0; sent < STREAM_MESSAGES || received < sent; ) {
      for (; sent < STREAM_MESSAGES && sent - received < STREAM_UNANSWERED_MAX; sent += 1) {
        client.send(JSON.stringify(this.#message(sent)));
      }
      const line = await client.next();
      if (line === null) break;
      const parsed: unknown = JSON.parse(line);
      received += Array.isArray(parsed) ? parsed.length : line.includes('"seq"') ? 1 : 0;
      if (received % STREAM_UNANSWERED_MAX === 0) client.send(`{"ack":${received}}`);
    }
    client.finish();
    await client.rest();
    if (received < STREAM_MESSAGES) this.#wrong(`a stream ended after ${received} answers`);
  }

  #message(id: number): object {
    if (this.#target.random() < 0.3) return { id, items: [this.#cartItem()] };
    const query = new URLSearchParams(this.#query());
    return { id, ...Object.fromEntries(query) };
  }

  /** Makes a merchant, uses it and deletes it. */
  async #merchant(): Promise<void> {
    const post = (path: string, body: object): Promise<string> =>
      this.#ask(
        path,
        {
          method: 'POST',
          body: JSON.stringify(body),
          headers: { 'Content-Type': 'application/json', 'Idempotency-Key': randomUUID() },
        },
        [200, 201],
      );
    const made = JSON.parse(
      await post('/merchant/create', {
        merchantName: 'Soak',
        merchantType: 'self-managed',
      }),
    ) as { readonly merchantId: string };
    const { merchantId } = made;
    const text = await this.#ask(
      '/merchant/cart/calculate',
      {
        method: 'POST',
        body: JSON.stringify({ merchantId, items: [this.#merchantItem()] }),
        headers: { 'Content-Type': 'application/json' },
      },
      [200, 400, 422],
    );
    this.#understood(text);
    await this.#ask('/merchant/list', {}, [200]);
    await post('/merchant/delete', { merchantId });
  }

  async #other(): Promise<void> {
    await this.#ask('/system/health', {}, [200]);
    await this.#ask('/account/metrics', {}, [200]);
    await this.#ask(
      '/search/tic',
      {
        method: 'POST',
        body: JSON.stringify({ query: 'cotton shirt' }),
        headers: { 'Content-Type': 'application/json' },
      },
      [200, 422],
    );
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
