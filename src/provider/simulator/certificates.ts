/** Exemption certificates of a connection of the simulated provider. */
import { addressOf, type Fields, listOf, refuse, type SimulatedReply, textOf } from './fields.js';
import type { Random } from './faults.js';

const CERTIFICATES_MAX = 100_000;
const LIMIT_DEFAULT = 20;
const LIMIT_MAX = 100;
const ACCOUNT_ID = 4711;

const TEXTS = [
  'customerId',
  'customerName',
  'customerBusinessType',
  'reason',
  'reasonDescription',
] as const;

/** The certificates of one connection. */
export class Certificates {
  readonly #certificates = new Map<string, Fields>();
  readonly #connectionId: string;
  readonly #path: string;
  readonly #random: Random;

  constructor(connectionId: string, path: string, random: Random) {
    this.#connectionId = connectionId;
    this.#path = path;
    this.#random = random;
  }

  create(body: Fields, now: string): SimulatedReply {
    const missing = TEXTS.find((name) => textOf(body[name]) === '');
    if (missing !== undefined) return refuse(422, 'Unprocessable Entity', `${missing} is required`);
    if (this.#certificates.size >= CERTIFICATES_MAX) {
      return refuse(400, 'Bad Request', 'the simulator holds no more certificates');
    }
    const certificateId = this.#random.uuid();
    const description = textOf(body['customerBusinessDescription']);
    const certificate: Fields = {
      certificateId,
      connectionId: this.#connectionId,
      accountId: ACCOUNT_ID,
      ...Object.fromEntries(TEXTS.map((name) => [name, textOf(body[name])])),
      ...(description === '' ? {} : { customerBusinessDescription: description }),
      address: addressOf(body['address']),
      states: listOf(body['states']),
      singlePurchase: body['singlePurchase'] === true,
      createdDate: now,
      disabledAt: null,
    };
    this.#certificates.set(certificateId, certificate);
    return { status: 201, body: certificate, location: `${this.#path}/${certificateId}` };
  }

  get(certificateId: string): SimulatedReply {
    const certificate = this.#certificates.get(certificateId);
    return certificate === undefined
      ? refuse(404, 'Not Found', 'no such certificate')
      : { status: 200, body: certificate };
  }

  /** Disables a certificate; one that is disabled already is not found. */
  remove(certificateId: string, now: string): SimulatedReply {
    const certificate = this.#certificates.get(certificateId);
    if (certificate === undefined || certificate['disabledAt'] !== null) {
      return refuse(404, 'Not Found', 'no such certificate');
    }
    this.#certificates.set(certificateId, { ...certificate, disabledAt: now });
    return { status: 204, body: null };
  }

  /** A page of certificates; the cursor is the last id of the page before. */
  list(query: URLSearchParams): SimulatedReply {
    const limit = Math.min(Number(query.get('limit') || LIMIT_DEFAULT), LIMIT_MAX);
    const key = query.get('sortBy') === 'createdDate' ? 'createdDate' : 'certificateId';
    const sign = query.get('ascending') === 'true' ? 1 : -1;
    const customerId = query.get('customerId');
    const orderOf = (fields: Fields): string =>
      `${textOf(fields[key])} ${textOf(fields['certificateId'])}`;
    const all = [...this.#certificates.values()]
      .filter(({ disabledAt }) => disabledAt === null || query.get('disabled') === 'true')
      .filter((fields) => customerId === null || fields['customerId'] === customerId)
      .sort((left, right) => (orderOf(left) < orderOf(right) ? -sign : sign));
    const cursor = query.get('cursor');
    const after =
      cursor === null ? 0 : all.findIndex(({ certificateId }) => certificateId === cursor) + 1;
    const items = all.slice(after, after + limit);
    const isLast = after + limit >= all.length || limit === 0;
    const nextCursor = isLast ? null : textOf(items.at(-1)?.['certificateId']);
    return { status: 200, body: { items, limit, nextCursor } };
  }
}
