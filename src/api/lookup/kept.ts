/**
 * Parameters that concern kept releases: `dataset` names a release that answers in place of the
 * active one, `at` is the moment that "today" is derived from, `receipt` asks for a receipt of the
 * answer. The front end reads them, since it decides which release a worker opens.
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
  /** Null for the active release. */
  readonly dataset: string | null;
  /** Null for the present. */
  readonly atMs: number | null;
  readonly receipt: boolean;
}

const KEPT_NAMES = ['dataset', 'at', 'receipt'] as const;

/** A query without any of these parameters. */
export const NOTHING_KEPT: KeptAsked = { dataset: null, atMs: null, receipt: false };

/** An escape within a name, which may then be any name. */
const ESCAPED_NAME = /(?:^|&)[^=&]*%/;

/**
 * Whether a lookup may ask about kept releases; quick, since most queries do not. `at` without
 * `dataset` is not noticed here, and the worker refuses it.
 */
export function mayAskKept(query: string): boolean {
  return (
    query.includes('dataset=') ||
    query.includes('receipt=') ||
    (query.includes('%') && ESCAPED_NAME.test(query))
  );
}

/**
 * The parameters of a query about kept releases, or what is wrong with them; null where there are
 * none.
 */
export function keptAsked(query: string): KeptAsked | Failure | null {
  if (query === '') return null;
  const raw = readParameters(query);
  const broken = KEPT_NAMES.find((name) => raw.undecodable.includes(name));
  if (broken !== undefined) {
    return wrongParameter(broken, 'not valid UTF-8.');
  }
  return KEPT_NAMES.every((name) => raw[name] === null) ? null : readKept(raw);
}

/** Names of the parameters about kept releases that have an effect in a query. */
export function keptNames(query: string): readonly string[] {
  const raw = readParameters(query);
  const asksNoReceipt = raw.receipt !== null && parseBoolean(raw.receipt) === false;
  return KEPT_NAMES.filter((name) =>
    raw[name] === null ? raw.undecodable.includes(name) : name !== 'receipt' || !asksNoReceipt,
  );
}

/** The refusal of a release that is not kept. */
export function notKept(dataset: string): Failure {
  return fail('no-result', `The dataset ${dataset} is not kept here.`, 'dataset');
}

/**
 * Why the grants of a key do not allow it to ask for a kept release; null where they do, or none is
 * asked for.
 */
export function keptRefusal(grants: number, dataset: string | null = null): Problem | null {
  return dataset === null || (grants & ENTITLEMENTS.historical) !== 0
    ? null
    : problem(403, 'Kept datasets need the entitlement historical.');
}

/** The refusal of a release whose format this version of Situs cannot read. */
function notRead({ message }: OtherFormat): Failure {
  return fail('no-result', message, 'dataset');
}

/** What answers from kept releases, and receipts, are made with. */
export interface KeptServices {
  /** Keeps a release open until its task is answered; null when the release does not exist. */
  ask(name: string): Promise<PinnedRelease | null>;
  readonly settings: AnswerSettings;
  /** Version of Situs. */
  readonly engine: string;
  readonly log: Log;
}

/**
 * The task for a request about another moment or release, or the refusal of a release that does not
 * exist or cannot be read.
 */
type Placed = OwnTask | Failure;

/** Opens the release that is asked for. It is unpinned when the task has ended. */
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

/** An answer, with what its receipt says of the request. */
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
