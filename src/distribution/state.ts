/**
 * The document of a place: which releases it holds, which one is active for the fleet, and who
 * changed that last. It is only changed by compare-and-set. Members that this version does not know
 * are kept, so that nodes and commands of two versions can work on the same document.
 */
import { SHA256 } from '../base/patterns.js';
import { isObject, parsedText } from '../base/json-object.js';
import { isReleaseName } from '../dataset/release.js';
import { type Place, PlaceError } from './fleet-place.js';

/** Raised when an older program would misread the document of a newer one. */
export const STATE_VERSION = 1;
/** Most releases in one place, so that the document stays small enough to be read each second. */
export const RELEASES_MAX = 200;
/** How many of the last changes are kept. */
const CHANGES_MAX = 20;
/** How often a change is repeated because the document was changed meanwhile. */
const TRIES_MAX = 20;

/** A release in the place. */
export interface Offer {
  readonly dataset: string;
  /** SHA-256 of the list of its pieces. */
  readonly list: string;
  /** Bytes of its bundle, and of its files. */
  readonly bytes: number;
  readonly unpacked: number;
  /** Public keys of its signatures, as the release states them; they are not verified here. */
  readonly signedBy: readonly string[];
  /** ISO 8601. */
  readonly at: string;
  readonly by: string;
}

export interface Change {
  readonly action: 'activate' | 'rollback';
  readonly dataset: string;
  readonly at: string;
  readonly by: string;
}

export interface FleetState {
  readonly v: number;
  readonly active: string | null;
  readonly previous: string | null;
  /** In the order of their push. */
  readonly releases: readonly Offer[];
  /** The latest change first. */
  readonly changes: readonly Change[];
}

const EMPTY: FleetState = {
  v: STATE_VERSION,
  active: null,
  previous: null,
  releases: [],
  changes: [],
};

function isOffer(value: unknown): value is Offer {
  return (
    isObject(value) &&
    typeof value['dataset'] === 'string' &&
    isReleaseName(value['dataset']) &&
    typeof value['list'] === 'string' &&
    SHA256.test(value['list']) &&
    Number.isSafeInteger(value['bytes']) &&
    Number.isSafeInteger(value['unpacked']) &&
    Array.isArray(value['signedBy']) &&
    typeof value['at'] === 'string' &&
    typeof value['by'] === 'string'
  );
}

function isChange(value: unknown): value is Change {
  return (
    isObject(value) &&
    (value['action'] === 'activate' || value['action'] === 'rollback') &&
    typeof value['dataset'] === 'string' &&
    typeof value['at'] === 'string' &&
    typeof value['by'] === 'string'
  );
}

function isName(value: unknown): value is string | null {
  return value === null || (typeof value === 'string' && isReleaseName(value));
}

function isState(value: unknown): value is FleetState {
  return (
    isObject(value) &&
    isName(value['active']) &&
    isName(value['previous']) &&
    Array.isArray(value['releases']) &&
    value['releases'].every(isOffer) &&
    Array.isArray(value['changes']) &&
    value['changes'].every(isChange)
  );
}

/**
 * Reads the document of a place.
 * @throws PlaceError where it is not valid, or of a newer version.
 */
export function parseState(text: string, place: string): FleetState {
  const value = parsedText(text);
  if (value === undefined) {
    throw new PlaceError(`what ${place} holds as the state of the fleet is no JSON`);
  }
  if (isObject(value) && typeof value['v'] === 'number' && value['v'] > STATE_VERSION) {
    throw new PlaceError(
      `the state of the fleet at ${place} is of version ${value['v']}, and this ` +
        `program reads up to ${STATE_VERSION}: it has to be upgraded first`,
    );
  }
  if (isState(value)) return value;
  throw new PlaceError(`what ${place} holds is no state of a fleet`);
}

/** The release of this name in the state, or null. */
export function offerOf({ releases }: FleetState, dataset: string): Offer | null {
  return releases.find((offer) => offer.dataset === dataset) ?? null;
}

/**
 * The releases that every node should be able to switch to at once, in this order: the active one,
 * the one pushed last, and the one before that.
 */
export function wantedOf(state: FleetState): readonly Offer[] {
  const names = [state.active, state.releases.at(-1)?.dataset ?? null, state.previous];
  return [...new Set(names)].flatMap((name) => {
    const offer = name === null ? null : offerOf(state, name);
    return offer === null ? [] : [offer];
  });
}

/** The state with another release, pushed last. @throws Error where the state is full. */
export function withOffer(state: FleetState, offer: Offer): FleetState {
  const others = state.releases.filter(({ dataset }) => dataset !== offer.dataset);
  if (others.length >= RELEASES_MAX) {
    throw new Error(
      `the place holds ${others.length} releases, and no more fit: ` +
        'remove some with: situs dataset prune --fleet',
    );
  }
  return { ...state, releases: [...others, offer] };
}

/** The state with another active release. */
export function withActive(state: FleetState, change: Change): FleetState {
  return {
    ...state,
    active: change.dataset,
    previous: state.active === change.dataset ? state.previous : state.active,
    changes: [change, ...state.changes].slice(0, CHANGES_MAX),
  };
}

/** The state and its version; an empty state where the place holds none. */
export async function readState(
  place: Place,
): Promise<{ readonly state: FleetState; readonly version: string | null }> {
  const found = await place.read(null);
  if (found === null || found === 'same') return { state: EMPTY, version: null };
  return { state: parseState(found.text, place.name), version: found.version };
}

/**
 * Changes the state and returns the new one. `change` makes it from the present state, and is
 * called again when another change came first.
 * @throws what `change` throws; PlaceError where other changes always come first.
 */
export async function changeState(
  place: Place,
  change: (state: FleetState) => FleetState,
): Promise<FleetState> {
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const { state, version } = await readState(place);
    const next = change(state);
    if (await place.replace(`${JSON.stringify(next)}\n`, version)) return next;
  }
  throw new PlaceError(`${place.name} is changed by others all the time; try again`);
}

/** A sentence about who made a change. */
export function changeText({ action, dataset, by, at }: Change): string {
  return `${by} ${action === 'rollback' ? 'went back to' : 'activated'} ${dataset} at ${at}`;
}

/**
 * Makes a release active in the place, provided that the active one is still that of `seen`.
 * @throws Error that tells who changed it first.
 */
export async function activateInFleet(
  place: Place,
  seen: FleetState,
  change: Change,
): Promise<FleetState> {
  return changeState(place, (state) => {
    const [last] = state.changes;
    if (JSON.stringify(last) !== JSON.stringify(seen.changes[0]) || state.active !== seen.active) {
      throw new Error(
        `nothing was changed: meanwhile ${
          last === undefined ? 'the state of the fleet was replaced' : changeText(last)
        }`,
      );
    }
    if (offerOf(state, change.dataset) === null) {
      throw new Error(`${change.dataset} was removed from ${place.name} meanwhile`);
    }
    return withActive(state, change);
  });
}
