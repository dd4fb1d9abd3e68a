/**
 * What is asked of releases that are kept: `dataset` names the one that answers in place of the
 * active one, `at` the moment that today is told from, `receipt` asks for a receipt of the answer.
 * The front end looks for them, since it is the one that says which release a worker opens.
 */
import { OtherFormat, UnsoundRelease } from '../../dataset/release.js';
import { problem, type Problem } from '../../base/problem.js';
import { fail, type Failure } from '../../failure.js';
import { messageOf, type Log } from '../../log.js';
import type { OwnTask, PinnedRelease } from '../../pool/types.js';
import { ENTITLEMENTS } from '../../store/plan.js';
import { receiptText, requestLine, sha256Of, type AnswerSettings } from '../../wire/receipt.js';
import { parseBoolean } from './parameter-table.js';
import { readParameters } from './query-string.js';
import { readKept, wrongParameter } from './query.js';

export interface KeptAsked {
  /** Null for the release that is active. */
  readonly dataset: string | null;
  /** Null for now. */
  readonly atMs: number | null;
  readonly receipt: boolean;
}

const KEPT_NAMES = ['dataset', 'at', 'receipt'] as const;

/** Nothing of the kind. */
export const NOTHING_KEPT: KeptAsked = { dataset: null, atMs: null, receipt: false };

/**
 * Whether a lookup may ask of kept releases. Names that are written with escapes, and `at` alone,
 * are not found here, and refused by the worker: most queries pass by quickly.
 */
export function mayAskKept(query: string): boolean {
  return query.includes('dataset=') || query.includes('receipt=');
}

/** What a query asks of kept releases, or what is wrong with it; null for nothing. */
export function keptAsked(query: string): KeptAsked | Failure | null {
  if (query === '') return null;
  const raw = readParameters(query);
  const broken = KEPT_NAMES.find((name) => raw.undecodable.includes(name));
  if (broken !== undefined) {
    return wrongParameter(broken, 'not valid UTF-8.');
  }
  return KEPT_NAMES.every((name) => raw[name] === null) ? null : readKept(raw);
}

/** Names of those of these parameters that a query says anything with. */
export function keptNames(query: string): readonly string[] {
  const raw = readParameters(query);
  const asksNoReceipt = raw.receipt !== null && parseBoolean(raw.receipt) === false;
  return KEPT_NAMES.filter((name) =>
    raw[name] === null ? raw.undecodable.includes(name) : name !== 'receipt' || !asksNoReceipt,
  );
}

/** The refusal of a release that is not there. */
export function notKept(dataset: string): Failure {
  return fail('no-result', `The dataset ${dataset} is not kept here.`, 'dataset');
}

/** Why a key may not ask for a kept release, by its grants; null where it may, or asks for none. */
export function keptRefusal(grants: number, dataset: string | null = null): Problem | null {
  return dataset === null || (grants & ENTITLEMENTS.historical) !== 0
    ? null
    : problem(403, 'Kept datasets need the entitlement historical.');
}

/** The refusal of a release that another version of Situs built. */
function notRead({ message }: OtherFormat): Failure {
  return fail('no-result', message, 'dataset');
}

/** What answers to these questions are made with. */
export interface KeptServices {
  /** Keeps a release open until its task is answered; null when it is not there. */
  ask(name: string): Promise<PinnedRelease | null>;
  readonly settings: AnswerSettings;
  /** Version of Situs. */
  readonly engine: string;
  readonly log: Log;
}

/**
 * Where a question goes that is not for now or for the active release, or the refusal of a release
 * that is not there or cannot be read.
 */
type Placed = OwnTask | Failure;

/** Opens the release that is asked for. What is opened is unpinned with the task. */
export async function placeOf(
  kept: Pick<KeptServices, 'ask' | 'log'>,
  { dataset, atMs }: Pick<KeptAsked, 'dataset' | 'atMs'>,
): Promise<Placed> {
  const now = atMs ?? Date.now();
  if (dataset === null) return { release: null, now };
  try {
    const release = await kept.ask(dataset);
    return release === null ? notKept(dataset) : { release, now: atMs ?? Date.now() };
  } catch (error) {
    if (error instanceof OtherFormat) return notRead(error);
    kept.log.error('dataset asked for not opened', { dataset, message: messageOf(error) });
    return fail(error instanceof UnsoundRelease ? 'internal' : 'overloaded');
  }
}

/** An answer that a receipt is of. */
interface Receipted {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly query: string;
  /** SHA-256 of the body of the request; null where there is none. */
  readonly bodySha256: string | null;
  readonly grants: number;
  readonly dataset: string;
  readonly atMs: number;
  readonly status: number;
  readonly body: Uint8Array;
}

/** The receipt of an answer, as the value of its header field. */
export function receiptOf(
  { settings, engine }: Pick<KeptServices, 'settings' | 'engine'>,
  answer: Receipted,
): string {
  const { method, path, query, body, ...rest } = answer;
  return receiptText({
    ...settings,
    ...rest,
    engine,
    request: requestLine(method, path, query),
    sha256: sha256Of(body),
  });
}
