/** Schemas of every operation but lookups. */
import type { WireObject, ApiVersion } from '../wire/tree.js';
import { type AccountMetrics, metricsMembers } from '../api/account/handler.js';
import {
  about,
  BOOLEAN,
  DIALECT,
  INTEGER,
  list,
  NUMBER,
  object,
  oneOf,
  TEXT,
  type Schema,
} from '../base/json-schema.js';
import { REFUSAL_METADATA } from './lookups.js';
import { TIC_SEARCH_SCHEMA } from '../api/catalogue/pages.js';
import { UNREADY } from '../api/system/health.js';

/** A problem document (RFC 9457). Where a response code fits, it also has `metadata`. */
export const PROBLEM: Schema = object(
  {},
  {
    type: { type: 'string', format: 'uri-reference', default: 'about:blank' },
    title: TEXT,
    status: INTEGER,
    detail: TEXT,
    instance: { type: 'string', format: 'uri-reference' },
    errors: list(object({ location: TEXT, message: TEXT }, { value: {} })),
    ...REFUSAL_METADATA,
  },
);

const COUNT: Schema = { ...INTEGER, minimum: 0 };

const NO_METRICS: AccountMetrics = {
  used: { core: 0, geo: 0, merchant: 0 },
  limits: { core: 0, geo: 0, merchant: 0 },
  geoEnabled: false,
  active: false,
  message: '',
};

function metricSchema(name: string, value: WireObject[string]): Schema {
  if (typeof value === 'boolean') return BOOLEAN;
  if (typeof value === 'string') return TEXT;
  return name.endsWith('_percent') ? { ...NUMBER, minimum: 0 } : COUNT;
}

/** Account metrics of a version: the members that the version prints. */
export function metricsSchema(version: ApiVersion | null): Schema {
  const members = Object.entries(metricsMembers(version, NO_METRICS));
  return object(
    Object.fromEntries(members.map(([name, value]) => [name, metricSchema(name, value ?? null)])),
  );
}

export const MISSING_KEY: Schema = object({ error: TEXT, message: TEXT });

const TIC_CODE: Schema = { type: 'string', pattern: '^[0-9]{5}$' };

export const TIC_LIST: Schema = object({
  tic_list: list(
    object({
      tic: object({
        id: TIC_CODE,
        parent: about({ type: 'string', pattern: '^(?:[0-9]{5})?$' }, 'Empty at the top.'),
        title: TEXT,
        label: TEXT,
        nl_title: TEXT,
        nl_label: TEXT,
      }),
    }),
  ),
});

const TIC_SEARCH: Schema = object({
  $schema: { type: 'string', format: 'uri-reference' },
  query: TEXT,
  nextCursor: about({ type: 'null' }, 'Everything found is on one page.'),
  results: list(
    object({
      tic: TIC_CODE,
      name: TEXT,
      ticId: COUNT,
      label: TEXT,
      naturalLabel: TEXT,
      description: about(TEXT, 'Everyday words for the code; may be empty.'),
      documentation: TEXT,
      rank: { ...INTEGER, minimum: 1 },
      score: about({ ...NUMBER, minimum: 0, maximum: 1 }, 'Higher is better.'),
    }),
  ),
});

/** The schema that answers of searches refer to. */
export function ticSearchSchema(baseUrl: string): Schema {
  return {
    $schema: DIALECT,
    $id: baseUrl + TIC_SEARCH_SCHEMA,
    title: 'Answers of POST /search/tic',
    ...TIC_SEARCH,
  };
}

export const TIC_SEARCH_ANSWER: Schema = TIC_SEARCH;

export const HEALTH: Schema = object(
  {
    status: { const: 'ok' },
    components: object({
      dynamo: oneOf(['ok', 'config_error', 'connection_error']),
      taxdata: oneOf(['ok', 'empty', 'partial']),
      taxdata_count: COUNT,
      store: oneOf(['ok', 'connection_error']),
    }),
    dataset: { type: ['string', 'null'] },
    stale: list(TEXT),
  },
  {
    servers: about({ ...INTEGER, minimum: 2 }, 'Servers on the store, where there are several.'),
    unready: list(oneOf(Object.keys(UNREADY))),
    limits: oneOf(['shared', 'own share']),
    files: oneOf(['ok', 'connection_error']),
    refused: object({ dataset: { type: ['string', 'null'] }, reason: TEXT }),
    fleet: object(
      {
        place: oneOf(['ok', 'connection_error']),
        dataset: { type: ['string', 'null'] },
        prepared: list(TEXT),
      },
      { problem: object({ dataset: TEXT, reason: TEXT }) },
    ),
  },
);

export const LIVE: Schema = object({ status: { const: 'live' } });

export const READY: Schema = object({
  status: oneOf(['ready', 'unready']),
  reasons: about(list(oneOf(Object.keys(UNREADY))), 'Empty when ready.'),
});

export const SYSTEM_METADATA: Schema = object({
  go_version: TEXT,
  hostname: TEXT,
  runtime_version: TEXT,
});
