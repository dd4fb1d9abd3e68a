/** Which districts hold in a tuple, by the facts that stand in for boundaries. */
import type { DateInt } from '../../tax/date.js';
import type { PlaceFact } from '../model.js';
import type { DistrictMember } from './facts.js';

/** Where a tuple lies, after independent cities have been told from counties. */
export interface Spot {
  readonly state: string;
  readonly county: string;
  /** Place and town codes the spot lies in; none in an unincorporated area. */
  readonly places: readonly string[];
}

/** A district that holds at a spot, over some days. */
export interface Membership {
  readonly code: string;
  readonly from: DateInt;
  readonly to: DateInt;
  /** True when it holds in the whole county or state, without exception. */
  readonly countywide: boolean;
}

/** Facts by where they apply. */
export interface MemberIndex {
  /** Districts at a spot; a code may appear more than once, for different days. */
  at(spot: Spot): readonly Membership[];
  /** Whether districts of a county differ between its places and its remainder. */
  divides(county: string): boolean;
}

function keyOf(member: DistrictMember): string {
  if (member.scope === 'state') return member.state;
  return member.scope === 'place' ? member.place : member.county;
}

function holds(member: DistrictMember, spot: Spot): boolean {
  switch (member.scope) {
    case 'state': return true;
    case 'county': return !spot.places.some((place) => member.except.includes(place));
    case 'remainder': return spot.places.length === 0;
    case 'place': return member.county === '' || member.county === spot.county;
  }
}

/** Indexes membership facts. */
export function indexMembers(
  members: readonly DistrictMember[],
  places: ReadonlyMap<string, PlaceFact>,
): MemberIndex {
  const byKey = new Map<string, DistrictMember[]>();
  const divided = new Set<string>();
  for (const member of members) {
    const key = keyOf(member);
    const list = byKey.get(key);
    if (list) list.push(member);
    else byKey.set(key, [member]);
    const partial = member.scope === 'remainder' || member.scope === 'place'
      || member.except.length > 0;
    const within = member.county ? [member.county] : places.get(member.place)?.counties ?? [];
    if (partial) for (const county of within) divided.add(county);
  }
  return {
    at(spot: Spot): readonly Membership[] {
      const found: Membership[] = [];
      for (const key of [spot.state, spot.county, ...spot.places]) {
        for (const member of byKey.get(key) ?? []) {
          if (member.state !== spot.state || !holds(member, spot)) continue;
          const { code, from, to, scope, except } = member;
          const countywide = scope === 'state' || (scope === 'county' && except.length === 0);
          found.push({ code, from, to, countywide });
        }
      }
      return found;
    },
    divides: (county) => divided.has(county),
  };
}
