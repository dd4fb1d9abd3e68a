/**
 * Every operation that writes, according to the running service's own description. Requests of the
 * documented shape are sent again and again, with new ids and Idempotency-Keys, so that new routes
 * are included.
 */
import { randomUUID } from 'node:crypto';
import { bodyOperations, type Json } from '../../test/support/body-sample.js';
import { ELMTON, KEYS, type MerchantService } from '../../test/support/merchant-service.js';
import { BODIES, CONNECTION_ID } from '../../test/support/relay-service.js';

/** How many requests an operation gets, unless one is refused before. */
const REQUESTS = 64;
const AT_ONCE = 8;
/** Statuses which say that a share is used up, or that too much is under way. */
const REFUSALS: ReadonlySet<number> = new Set([429, 503, 507]);

const TRIES_MAX = 25;
const TRY_MS = 200;

const DAY = '2026-01-02T03:04:05Z';
const LINE = `${ELMTON.line1}, ${ELMTON.city}, ${ELMTON.state} ${ELMTON.zip}`;

/** Values of members that a shape alone does not determine. */
const KNOWN: Readonly<Record<string, Json>> = {
  location: ELMTON,
  locations: [ELMTON],
  apiKey: 'simulated-key',
  rounding: 'half-up',
  contactEmail: 'someone@example.com',
  transactionDate: DAY,
  completedDate: DAY,
  returnedDate: DAY,
  origin: ELMTON,
  destination: ELMTON,
  exemption: null,
  discounts: null,
  price: 1,
  quantity: 1,
  connectionId: CONNECTION_ID,
  currencyCode: 'USD',
  countryCode: 'US',
  nexusType: 'physical',
  tic: null,
  taxabilityCode: null,
  deliveredBySeller: null,
  expand: 'refunds',
  itemId: 'item-1',
};

/** Values of members for single operations. */
const KNOWN_OF: Readonly<Record<string, Readonly<Record<string, Json>>>> = {
  '/calculate/cart': { origin: { address: LINE }, destination: { address: LINE } },
};

/** Bodies that the simulated provider accepts, by the path below /merchant/. */
const RELAYED: Readonly<Record<string, Json>> = BODIES;

/**
 * The operation that makes what another one needs, where that is not `create` or `set` beside it.
 */
const MAKERS: Readonly<Record<string, string>> = {
  '/merchant/refund/create': '/merchant/order/create',
  '/merchant/order/create-from-cart': '/merchant/cart/calculate',
};

const ROWS: Readonly<Record<string, string>> = {
  'text/csv': 'zip\n91010\n',
  'application/x-ndjson': '{"postalcode":"91010"}\n',
};

type Document = Parameters<typeof bodyOperations>[0];
type Named = Readonly<Record<string, Json>>;

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly type: string;
  readonly body: string | null;
}

interface Got {
  readonly status: number;
  readonly text: string;
}

/** Sends a request for the account that uses up its shares. */
async function send(
  { base }: MerchantService,
  { method, path, type, body }: Sent,
  idempotencyKey: string,
): Promise<Got> {
  const response = await fetch(base + path, {
    method,
    ...(body === null ? {} : { body }),
    headers: {
      'X-API-KEY': KEYS.alpha,
      'Idempotency-Key': idempotencyKey,
      ...(body === null ? {} : { 'Content-Type': type }),
    },
  });
  return { status: response.status, text: await response.text() };
}

/** A body with new ids, except for those in `named`. */
function fresh(value: Json, named: Named): Json {
  if (Array.isArray(value)) return (value as readonly Json[]).map((each) => fresh(each, named));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => {
      const own =
        typeof member === 'string' && named[name] === undefined && /(Id|^id)$/.test(name)
          ? randomUUID()
          : fresh(member, named);
      return [name, own];
    }),
  );
}

/** The ids in an answer. */
function idsIn(text: string): Named {
  const ids: Record<string, Json> = {};
  const look = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [name, member] of Object.entries(value)) {
      if (typeof member === 'string' && /(Id|^id)$/.test(name)) ids[name] ??= member;
      look(member);
    }
  };
  try {
    look(JSON.parse(text));
  } catch {
    // Rows, or no body: there are no ids.
  }
  return ids;
}

export class EveryOperation {
  readonly #service: MerchantService;
  readonly #document: Document;
  /** The merchants with which operations are tried. */
  readonly #merchants: readonly string[];
  readonly #report: (line: string) => void;
  readonly wrong: string[] = [];
  /** Operations that were carried out at least once. */
  readonly taken = new Set<string>();

  private constructor(
    service: MerchantService,
    document: Document,
    merchants: readonly string[],
    report: (line: string) => void,
  ) {
    this.#service = service;
    this.#document = document;
    this.#merchants = merchants;
    this.#report = report;
  }

  /** Reads the description from the service. */
  static async of(
    service: MerchantService,
    merchants: readonly string[],
    report: (line: string) => void,
  ): Promise<EveryOperation> {
    const document = (await (await fetch(`${service.base}/openapi.json`)).json()) as Document;
    return new EveryOperation(service, document, merchants, report);
  }

  /** Method and path of each operation that may write. */
  get names(): readonly string[] {
    return Object.entries(this.#document.paths).flatMap(([path, methods]) =>
      Object.keys(methods)
        .filter((method) => ['post', 'put', 'patch', 'delete'].includes(method))
        .map((method) => `${method.toUpperCase()} ${path}`),
    );
  }

  /** Sends requests of each operation until one is refused or there were enough. */
  async run(): Promise<void> {
    for (const name of this.names) {
      const found = await this.#repeat(name);
      this.#report(`${name}: ${found}`);
    }
  }

  /** Sets the credentials of the provider's merchant again, whatever was done to them before. */
  async #connect(): Promise<void> {
    const [sent] = this.#bodies(
      '/merchant/credentials/set',
      { merchantId: this.#merchants[1]! },
      0,
    );
    if (sent !== undefined) await this.#maker(sent, true);
  }

  async #repeat(name: string): Promise<string> {
    await this.#connect();
    const answers = new Map<number, number>();
    let refused: Got | null = null;
    let sent = 0;
    for (; sent < REQUESTS && refused === null; sent += AT_ONCE) {
      const got = await Promise.all(
        Array.from({ length: AT_ONCE }, (_, at) => this.#one(name, sent + at)),
      );
      for (const { status, text } of got) {
        answers.set(status, (answers.get(status) ?? 0) + 1);
        if (status < 300) this.taken.add(name);
        else if (REFUSALS.has(status)) refused = { status, text };
        else if (status >= 500) this.wrong.push(`${name}: ${status} ${text.slice(0, 300)}`);
      }
      if (!this.taken.has(name) && refused === null) {
        return `never taken: ${got[0]?.status ?? 0} ${got[0]?.text.slice(0, 300) ?? ''}`;
      }
    }
    return [...answers].map(([status, count]) => `${count} times ${status}`).join(', ');
  }

  /** Sends one request. If it needs an object that another operation makes, that is made first. */
  async #one(name: string, at: number): Promise<Got> {
    const [method = '', path = ''] = name.split(' ');
    const merchantId = this.#merchants[at % this.#merchants.length]!;
    const made = await this.#made(method, path, merchantId);
    if (made.refused !== null) return made.refused;
    const { named } = made;
    const id = String(named['id'] ?? named['merchantId']);
    const [sent] =
      method === 'DELETE'
        ? [{ method, path: path.replaceAll(/\{[^}]+\}/g, id), type: '', body: null }]
        : this.#bodies(path, named, at);
    if (sent === undefined) return { status: 0, text: 'has no body that is known' };
    return send(this.#service, sent, randomUUID());
  }

  /**
   * Ids of the object that a request needs, made by `create` or `set` beside it, or by the path
   * above.
   */
  async #made(
    method: string,
    path: string,
    merchantId: string,
  ): Promise<{ readonly named: Named; readonly refused: Got | null }> {
    const named = { merchantId };
    const { paths } = this.#document;
    const maker =
      MAKERS[path] !== undefined
        ? MAKERS[path]
        : method === 'DELETE'
          ? path.replace(/\/\{[^}]+\}$/, '')
          : ['create', 'set']
              .map((verb) => path.replace(/[^/]+$/, verb))
              .find((sibling) => paths[sibling] !== undefined);
    const needsOne =
      method === 'DELETE' || /\/(update|delete|get)$/.test(path) || MAKERS[path] !== undefined;
    if (!needsOne || maker === path || maker === undefined || paths[maker] === undefined) {
      return { named, refused: null };
    }
    const [sent] = this.#bodies(maker, named, 0);
    if (sent === undefined) return { named, refused: null };
    const answer = await this.#maker(sent, !this.taken.has(`${method} ${path}`));
    if (answer.status >= 300) return { named, refused: answer };
    return { named: { ...named, ...idsIn(answer.text) }, refused: null };
  }

  /**
   * Makes the object that a request needs; with `patient`, tries again where there is no room for a
   * moment.
   */
  async #maker(sent: Sent, patient: boolean): Promise<Got> {
    for (let tries = patient ? TRIES_MAX : 1; ; tries -= 1) {
      const answer = await send(this.#service, sent, randomUUID());
      if (!REFUSALS.has(answer.status) || tries === 1) return answer;
      await new Promise((resolve) => setTimeout(resolve, TRY_MS));
    }
  }

  /** Requests of an operation with a body of the documented shape; one content type in turn. */
  #bodies(path: string, named: Named, at: number): readonly Sent[] {
    const known: Named = { ...KNOWN, ...KNOWN_OF[path], ...named };
    const relayed = RELAYED[path.replace('/merchant/', '')];
    const found = bodyOperations(this.#document, known)
      .filter((each) => each.path === path)
      .flatMap(({ type, sample }): readonly Sent[] => {
        const shaped = typeof relayed === 'object' ? { ...relayed, ...named } : sample;
        const body = shaped === undefined ? ROWS[type] : JSON.stringify(fresh(shaped, known));
        return body === undefined ? [] : [{ method: 'POST', path, type, body }];
      });
    const first = found[at % Math.max(1, found.length)];
    return first === undefined ? [] : [first];
  }
}
