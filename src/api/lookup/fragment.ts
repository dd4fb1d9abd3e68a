/** Renders fragments on first use. */
import type { AreaRecord, StateRuleRecord } from '../../dataset/records.js';
import type { Engine } from '../../engine/engine.js';
import type { KnownRates } from '../../engine/rate/area-rates.js';
import { FLAG_ESTIMATED, FLAG_STALE } from '../../pool/types.js';
import { fail, isFailure, type Failure } from '../../failure.js';
import type { DateInt } from '../../tax/date.js';
import type { WireContext } from './context.js';
import type { Fragment, Variant } from './fragment-cache.js';
import { jsonMembers } from '../../wire/json.js';
import type { WireObject } from '../../wire/tree.js';
import { xmlMembers } from '../../wire/xml.js';
import type { Format } from '../../wire/version.js';

/** An area with its rates on a day. */
export interface RatedArea {
  readonly area: AreaRecord;
  readonly date: DateInt;
  readonly rates: KnownRates;
}

/** The same with the rules of its state on that day. */
export interface RuledArea extends RatedArea {
  readonly rules: StateRuleRecord;
}

/** Prints members in a format. */
export function printMembers(object: WireObject, format: Format): string {
  return format === 'json' ? jsonMembers(object) : xmlMembers(object);
}

/**
 * The fragment of an area, from the cache or rendered by `tree` as members of an object.
 */
export function fragmentOf(
  context: WireContext, engine: Engine, rated: RatedArea, variant: Variant, format: Format,
  tree: (ruled: RuledArea) => WireObject,
): Fragment | Failure {
  const { fragments } = context;
  const key = fragments.key(rated.area.id, rated.date, variant, format);
  const known = fragments.get(engine.id, key);
  if (known !== null) return known;
  const ruled = withRules(engine, rated);
  if (isFailure(ruled)) return ruled;
  const text = printMembers(tree(ruled), format);
  const fragment = { bytes: ownBytes(text), flags: areaFlags(rated) };
  fragments.set(engine.id, key, fragment);
  return fragment;
}

/** Adds the rules of the area's state; a refusal where none are held for the day. */
export function withRules(engine: Engine, rated: RatedArea): RuledArea | Failure {
  const rules = engine.stateRules(rated.area.state, rated.date);
  if (rules !== null) return { ...rated, rules };
  return fail('no-result',
    `Freight, service and sourcing rules of ${rated.area.stateName} are not held for this day.`);
}

/** Bytes of their own: a slice of the shared pool would keep the whole pool alive. */
function ownBytes(text: string): Uint8Array {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text, 'utf8'));
  bytes.write(text, 'utf8');
  return bytes;
}

/** The answer flags that follow from an area and the day. */
export function areaFlags({ area, date, rates }: RatedArea): number {
  const estimated = area.estimated || rates.rows.some((row) => row.estimated);
  return (estimated ? FLAG_ESTIMATED : 0) | (area.staleAfter < date ? FLAG_STALE : 0);
}
