/**
 * GET /merchant/list: the whole list, oldest first, or one page in the order of ids. It is read and
 * written in parts, so that other requests are answered in between.
 */
import {
  hasCredentials,
  listMerchants,
  type MerchantRecord,
  MERCHANTS_LISTED_MAX,
  pageOfMerchants,
  statusOf,
} from '../../store/merchants.js';
import type { Store } from '../../store/store.js';
import { merchantMembers } from './checked-body.js';
import { jsonValue } from '../../wire/tree.js';
import { type MerchantCaller, merchantRoute } from '../../http/merchant-route.js';
import {
  type Fields,
  headOf,
  JSON_TYPE,
  OWN_HEADERS,
  type Reply,
  type Request,
} from '../../http/reply.js';
import type { Route } from '../../http/router.js';
import type { HandlerServices } from './services.js';
import { invalid, isProblem, limited, type Problem } from '../../base/problem.js';
import { UUID } from '../../base/uuid.js';
import { GATHER_BATCH } from '../../store/gather.js';

/** Most merchants of one page, which it has without `limit` too. */
const MERCHANT_PAGE_MAX = 1_000;

interface PageAsked {
  readonly limit: number;
  /** Id of the last merchant of the page before; empty for the first page. */
  readonly cursor: string;
}

/** The page that a query asks for, null for the whole list, or what is wrong with a parameter. */
export function pageAsked(query: string): PageAsked | Problem | null {
  const parameters = new URLSearchParams(query);
  const [limit, cursor] = [parameters.get('limit'), parameters.get('cursor')];
  if (limit === null && cursor === null) return null;
  if (limit !== null && (!/^[1-9]\d{0,3}$/.test(limit) || Number(limit) > MERCHANT_PAGE_MAX)) {
    const message = `expected a number from 1 to ${MERCHANT_PAGE_MAX}`;
    return invalid({ location: 'query.limit', message });
  }
  if (cursor !== null && cursor !== '' && !UUID.test(cursor)) {
    return invalid({
      location: 'query.cursor',
      message: `expected a value of ${OWN_HEADERS.cursor}`,
    });
  }
  return {
    limit: limit === null ? MERCHANT_PAGE_MAX : Number(limit),
    cursor: (cursor ?? '').toLowerCase(),
  };
}

/** Merchants as JSON, printed in batches with other work in between. */
async function rendered(store: Store, merchants: readonly MerchantRecord[]): Promise<string> {
  const parts: string[] = [];
  for (let from = 0; from < merchants.length; from += GATHER_BATCH) {
    if (from > 0) await new Promise(setImmediate);
    for (const merchant of merchants.slice(from, from + GATHER_BATCH)) {
      const status = statusOf(merchant, hasCredentials(store, merchant));
      parts.push(jsonValue(merchantMembers(merchant, status)));
    }
  }
  return `[${parts.join(',')}]`;
}

async function answer(
  { store }: HandlerServices,
  caller: MerchantCaller,
  merchants: readonly MerchantRecord[],
  more: Fields = {},
): Promise<Reply> {
  const body = await rendered(store, merchants);
  return { status: 200, head: headOf(JSON_TYPE, { ...caller.fields, ...more }), body };
}

async function list(
  services: HandlerServices,
  caller: MerchantCaller,
  request: Request,
): Promise<Reply> {
  const asked = pageAsked(request.query);
  if (asked !== null && isProblem(asked)) return caller.refuse(asked);
  if (asked === null) {
    const merchants = await listMerchants(services.store, caller.account);
    if (merchants !== null) return answer(services, caller, merchants);
    const detail =
      `The account has more than ${MERCHANTS_LISTED_MAX} merchants; ask for pages of them ` +
      'with limit and cursor.';
    return caller.refuse(limited(422, detail, MERCHANTS_LISTED_MAX));
  }
  const { merchants, next } = await pageOfMerchants(services.store, caller.account, asked);
  return answer(services, caller, merchants, next === null ? {} : { [OWN_HEADERS.cursor]: next });
}

/** The route of the list. */
export function merchantListRoute(services: HandlerServices): Route {
  return merchantRoute(
    services,
    {
      method: 'GET',
      path: '/merchant/list',
      bodyBytesMax: 0,
      needs: 'merchants',
      metered: false,
      writes: false,
    },
    (caller, request) => list(services, caller, request),
  );
}
