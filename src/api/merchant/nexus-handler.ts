/**
 * Nexus locations of self-managed merchants: create, list, update and delete. Addresses are
 * geocoded before anything is written, and all changes of a request are one transaction.
 */
import {
  deleteNexus,
  findNexus,
  listNexus,
  nexusRecord,
  type NexusRecord,
  putNexus,
} from '../../store/nexus.js';
import { countNexus } from '../../store/nexus-count.js';
import type { MerchantRecord } from '../../store/merchants.js';
import { nexusMembers, readLargeNexus, resultOf } from './checked-body.js';
import {
  NEXUS_DELETE,
  NEXUS_LIST,
  NEXUS_UPDATE,
  type NexusCreateBody,
  type NexusUpdateBody,
  parseNexusCreate,
  parseNexusDelete,
  parseNexusList,
  parseNexusUpdate,
} from './nexus-shape.js';
import { bodyBytesMax } from '../../base/body-size.js';
import { isReadHere, PARSED_BYTES_MAX } from '../../http/json-body.js';
import {
  merchantRoute,
  type MerchantCaller,
  type MerchantHandle,
} from '../../http/merchant-route.js';
import type { Reply } from '../../http/reply.js';
import type { Route } from '../../http/router.js';
import {
  audit,
  isReply,
  ownMerchant,
  readBodyOf,
  readRoute,
  vouchForNone,
  writeRoute,
  type HandlerServices,
  type Reader,
} from './services.js';
import { type LocateServices, placesOf } from './nexus-locator.js';

/**
 * Longest body of nexus/create. 25 locations of 609 characters take 183 kB when each character is
 * written as two escapes of six bytes; as much again is left for names, spaces and line ends.
 */
export const NEXUS_BYTES_MAX = 262_144;

export type NexusServices = HandlerServices & LocateServices;

/** The caller's self-managed merchant, or the refusal where there is none. */
function selfManaged(
  caller: MerchantCaller,
  reader: Reader,
  merchantId: string,
): MerchantRecord | Reply {
  const merchant = ownMerchant(caller, reader, merchantId);
  if (isReply(merchant) || merchant.type === 'self-managed') return merchant;
  return caller.problem(403, 'The nexus of a provider merchant is kept with the provider.');
}

function noLocation(caller: MerchantCaller): Reply {
  return caller.problem(404, 'The merchant has no such location.');
}

function notLoaded(caller: MerchantCaller): Reply {
  return caller.problem(503, 'No address data is loaded.');
}

function isList<T>(value: readonly T[] | object): value is readonly T[] {
  return Array.isArray(value);
}

async function create(
  services: NexusServices,
  caller: MerchantCaller,
  body: NexusCreateBody,
): Promise<Reply> {
  const { merchantId, locations } = body;
  const before = selfManaged(caller, services.store, merchantId);
  if (isReply(before)) return before;
  if (!services.locator.loaded()) return notLoaded(caller);
  const places = await placesOf(
    services,
    caller,
    locations,
    (index) => `body.locations[${index}]`,
    504,
  );
  if (!isList(places)) return places;
  return services.store.write(
    (transaction) => {
      // The merchant may have been deleted or switched while addresses were located.
      const merchant = selfManaged(caller, transaction, merchantId);
      if (isReply(merchant)) return merchant;
      const now = services.now();
      const { account } = caller;
      const records = places.map((place, position) =>
        nexusRecord({ locationId: services.newId(), merchantId, account }, place, {
          position,
          createdAt: now,
          updatedAt: now,
        }),
      );
      countNexus(transaction, account, merchantId, records.length);
      for (const record of records) putNexus(transaction, record);
      const result = resultOf(merchantId, 'nexus locations created successfully');
      result['locations'] = records.map(nexusMembers);
      const reply = caller.json(200, result);
      caller.keep(transaction, reply);
      audit(transaction, caller, 'nexus.create', { merchantId }, now);
      return reply;
    },
    { quiet: true },
  );
}

async function update(
  services: NexusServices,
  caller: MerchantCaller,
  body: NexusUpdateBody,
): Promise<Reply> {
  const { merchantId, locationId, location } = body;
  const find = (reader: Reader): NexusRecord | Reply => {
    const merchant = selfManaged(caller, reader, merchantId);
    if (isReply(merchant)) return merchant;
    const found = findNexus(reader, caller.account, merchantId, locationId);
    if (found !== null) return found;
    vouchForNone(reader);
    return noLocation(caller);
  };
  const found = find(services.store);
  if (isReply(found)) return found;
  if (!services.locator.loaded()) return notLoaded(caller);
  const places = await placesOf(services, caller, [location], () => 'body.location', 503);
  if (!isList(places)) return places;
  const [place] = places;
  return services.store.write(
    (transaction) => {
      const before = find(transaction);
      if (isReply(before)) return before;
      if (place === undefined) throw new Error('an address without a place');
      const { account, position, createdAt } = before;
      const now = services.now();
      const record = nexusRecord({ locationId, merchantId, account }, place, {
        position,
        createdAt,
        updatedAt: now,
      });
      putNexus(transaction, record, before);
      const result = resultOf(merchantId, 'nexus location updated successfully');
      result['location'] = nexusMembers(record);
      const reply = caller.json(200, result);
      caller.keep(transaction, reply);
      audit(transaction, caller, 'nexus.update', { merchantId, locationId }, now);
      return reply;
    },
    { quiet: true },
  );
}

function geocodedRoute(
  services: NexusServices,
  path: string,
  bytesMax: number,
  handle: MerchantHandle,
): Route {
  return merchantRoute(
    services,
    {
      method: 'POST',
      path,
      bodyBytesMax: bytesMax,
      needs: 'merchants',
      metered: true,
      writes: true,
    },
    handle,
  );
}

/** The route of nexus/create. A body is read here, or by a worker where it is long. */
function createRoute(services: NexusServices): Route {
  return geocodedRoute(services, '/merchant/nexus/create', NEXUS_BYTES_MAX, (caller, request) => {
    const { body } = request;
    if (isReadHere(body)) {
      const parsed = readBodyOf(caller, request, parseNexusCreate);
      return isReply(parsed) ? parsed : create(services, caller, parsed);
    }
    return readLargeNexus(services.bodyWorkers, caller, body).then((looked) =>
      isReply(looked) ? looked : create(services, caller, looked.told),
    );
  });
}

function updateRoute(services: NexusServices): Route {
  const bytesMax = bodyBytesMax(NEXUS_UPDATE, PARSED_BYTES_MAX);
  return geocodedRoute(services, '/merchant/nexus/update', bytesMax, (caller, request) => {
    const parsed = readBodyOf(caller, request, parseNexusUpdate);
    return isReply(parsed) ? parsed : update(services, caller, parsed);
  });
}

/** The routes of nexus locations. */
export function nexusRoutes(services: NexusServices): readonly Route[] {
  const needs = 'merchants';
  return [
    createRoute(services),
    readRoute(
      services,
      {
        path: '/merchant/nexus/list',
        needs,
        shape: NEXUS_LIST,
        parse: parseNexusList,
      },
      async (caller, { merchantId }) => {
        const merchant = selfManaged(caller, services.store, merchantId);
        if (isReply(merchant)) return merchant;
        const locations = await listNexus(services.store, caller.account, merchantId);
        return caller.json(200, { merchantId, locations: locations.map(nexusMembers) });
      },
    ),
    updateRoute(services),
    writeRoute(
      services,
      {
        path: '/merchant/nexus/delete',
        needs,
        shape: NEXUS_DELETE,
        parse: parseNexusDelete,
        action: 'nexus.delete',
      },
      (caller, transaction, { merchantId, locationId }) => {
        const merchant = selfManaged(caller, transaction, merchantId);
        if (isReply(merchant)) return merchant;
        const found = findNexus(transaction, caller.account, merchantId, locationId);
        if (found === null) return noLocation(caller);
        deleteNexus(transaction, found, services.now(), services.age());
        const members = resultOf(merchantId, 'nexus location deleted successfully');
        return { merchantId, locationId, reply: caller.json(200, { ...members, locationId }) };
      },
    ),
  ];
}
