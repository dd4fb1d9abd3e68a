/**
 * Nexus locations of self-managed merchants: create, list, update and delete. Addresses are
 * geocoded before anything is written, and everything of a request is written in one transaction.
 */
import {
  deleteNexus, findNexus, listNexus, putNexus, type NexusPlace, type NexusRecord,
} from '../../store/nexus.js';
import type { MerchantRecord } from '../../store/merchants.js';
import type { StoreTransaction } from '../../store/store.js';
import type { BodyProblem } from '../../wire/body-rule.js';
import type { LocatedAddress } from '../../wire/located.js';
import { nexusMembers, resultOf } from '../../wire/merchant-record.js';
import {
  parseNexusCreate, parseNexusDelete, parseNexusList, parseNexusUpdate, unresolved,
  type LocationBody, type NexusCreateBody, type NexusUpdateBody,
} from '../../wire/nexus-body.js';
import { BODY_BYTES_MAX } from '../body.js';
import { codedProblem } from '../coded-problem.js';
import { merchantRoute, type MerchantCaller, type MerchantHandle } from '../merchant-gate.js';
import type { Reply } from '../reply.js';
import type { Route } from '../router.js';
import {
  bodyRefusal, isReply, ownMerchant, readBodyOf, readRoute, writeRoute, type MerchantDesk,
} from './merchant-desk.js';
import { locateAll, type LocateFailure, type LocateServices } from './nexus-locator.js';

export type NexusDesk = MerchantDesk & LocateServices;

/** The caller's live self-managed merchant, or the answer for everything else. */
function selfManaged(
  caller: MerchantCaller, reader: Pick<StoreTransaction, 'get'>, merchantId: string,
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

/** An address on one line, as it would be written. */
export function addressLine({ line1, line2, city, state, zip }: LocationBody): string {
  const street = line2 === undefined ? line1 : `${line1}, ${line2}`;
  return `${street}, ${city}, ${state} ${zip}`;
}

function placeOf(location: LocationBody, found: LocatedAddress): NexusPlace {
  const { normalizedAddress, state, postalCode, lat, lng } = found;
  const zip = postalCode === '' ? location.zip : postalCode;
  return { ...location, state, zip, normalizedAddress, lat, lng };
}

/** The status of a request that ran out of time: only create documents 504. */
type LateStatus = 503 | 504;

function locateRefusal(
  desk: NexusDesk, caller: MerchantCaller, failure: LocateFailure, late: LateStatus,
): Reply {
  switch (failure) {
    case 'not-enabled':
      return codedProblem('feature-not-enabled', caller.instance, desk.baseUrl, caller.fields,
        'Geocoding is not enabled for the key, or its quota of this month is used up.');
    case 'overloaded': return caller.problem(503, 'The service has more to do than it can take.');
    case 'internal': return caller.problem(500, 'The service failed to answer.');
    case 'late': return caller.problem(late, 'Finding the addresses took too long.');
  }
}

/** Places for all locations, or the answer when one of them has none. */
async function placesOf(
  desk: NexusDesk, caller: MerchantCaller, locations: readonly LocationBody[],
  nameOf: (index: number) => string, late: LateStatus,
): Promise<readonly NexusPlace[] | Reply> {
  const located = await locateAll(desk, caller.key, locations.map(addressLine));
  if (typeof located === 'string') return locateRefusal(desk, caller, located, late);
  const places: NexusPlace[] = [];
  const problems: BodyProblem[] = [];
  located.outcomes.forEach((outcome, index) => {
    const location = locations[index];
    if (location === undefined) return;
    if ('unresolved' in outcome) problems.push(unresolved(nameOf(index), outcome.unresolved));
    else places.push(placeOf(location, outcome));
  });
  const [first] = problems;
  if (first === undefined) return places;
  return bodyRefusal(caller, { ...first, errors: problems.flatMap(({ errors }) => errors) });
}

function isList<T>(value: readonly T[] | object): value is readonly T[] {
  return Array.isArray(value);
}

async function create(
  desk: NexusDesk, caller: MerchantCaller, body: NexusCreateBody,
): Promise<Reply> {
  const { merchantId, locations } = body;
  const before = selfManaged(caller, desk.store, merchantId);
  if (isReply(before)) return before;
  if (!desk.locator.loaded()) return notLoaded(caller);
  const places = await placesOf(
    desk, caller, locations, (index) => `body.locations[${index}]`, 504,
  );
  if (!isList(places)) return places;
  return desk.store.write((transaction) => {
    // It may have been deleted or switched while addresses were looked for.
    const merchant = selfManaged(caller, transaction, merchantId);
    if (isReply(merchant)) return merchant;
    const now = desk.now();
    const records = places.map((place, position): NexusRecord => ({
      v: 1, locationId: desk.newId(), merchantId, account: caller.account,
      ...place, position, createdAt: now, updatedAt: now,
    }));
    for (const record of records) putNexus(transaction, record);
    const reply = caller.json(200, {
      ...resultOf(merchantId, 'nexus locations created successfully'),
      locations: records.map(nexusMembers),
    });
    caller.keep(transaction, reply);
    return reply;
  }, { quiet: true });
}

async function update(
  desk: NexusDesk, caller: MerchantCaller, body: NexusUpdateBody,
): Promise<Reply> {
  const { merchantId, locationId, location } = body;
  const find = (reader: Pick<StoreTransaction, 'get'>): NexusRecord | Reply => {
    const merchant = selfManaged(caller, reader, merchantId);
    if (isReply(merchant)) return merchant;
    return findNexus(reader, caller.account, merchantId, locationId) ?? noLocation(caller);
  };
  const found = find(desk.store);
  if (isReply(found)) return found;
  if (!desk.locator.loaded()) return notLoaded(caller);
  const places = await placesOf(desk, caller, [location], () => 'body.location', 503);
  if (!isList(places)) return places;
  const [place] = places;
  return desk.store.write((transaction) => {
    const before = find(transaction);
    if (isReply(before)) return before;
    if (place === undefined) throw new Error('an address without a place');
    const { account, position, createdAt } = before;
    const record: NexusRecord = {
      v: 1, locationId, merchantId, account, ...place, position, createdAt, updatedAt: desk.now(),
    };
    putNexus(transaction, record);
    const reply = caller.json(200, {
      ...resultOf(merchantId, 'nexus location updated successfully'),
      location: nexusMembers(record),
    });
    caller.keep(transaction, reply);
    return reply;
  }, { quiet: true });
}

function geocodedRoute<T extends object>(
  desk: NexusDesk, path: string, parse: (input: unknown) => T | BodyProblem,
  write: (caller: MerchantCaller, body: T) => Promise<Reply>,
): Route {
  const handle: MerchantHandle = (caller, request) => {
    const body = readBodyOf(caller, request, parse);
    return isReply(body) ? body : write(caller, body);
  };
  return merchantRoute(desk, {
    method: 'POST', path, bodyBytesMax: BODY_BYTES_MAX, needs: 'merchants', metered: true,
    writes: true,
  }, handle);
}

/** The routes of nexus locations. */
export function nexusRoutes(desk: NexusDesk): readonly Route[] {
  const needs = 'merchants';
  return [
    geocodedRoute(desk, '/merchant/nexus/create', parseNexusCreate,
      (caller, body) => create(desk, caller, body)),
    readRoute(desk, { path: '/merchant/nexus/list', needs, parse: parseNexusList },
      async (caller, { merchantId }) => {
        const merchant = selfManaged(caller, desk.store, merchantId);
        if (isReply(merchant)) return merchant;
        const locations = await listNexus(desk.store, caller.account, merchantId);
        return caller.json(200, { merchantId, locations: locations.map(nexusMembers) });
      }),
    geocodedRoute(desk, '/merchant/nexus/update', parseNexusUpdate,
      (caller, body) => update(desk, caller, body)),
    writeRoute(
      desk, { path: '/merchant/nexus/delete', needs, parse: parseNexusDelete },
      (caller, transaction, { merchantId, locationId }) => {
        const merchant = selfManaged(caller, transaction, merchantId);
        if (isReply(merchant)) return merchant;
        const found = findNexus(transaction, caller.account, merchantId, locationId);
        if (found === null) return noLocation(caller);
        deleteNexus(transaction, found, desk.now());
        return caller.json(200, {
          ...resultOf(merchantId, 'nexus location deleted successfully'), locationId,
        });
      },
    ),
  ];
}
