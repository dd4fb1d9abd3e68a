/** Bodies of refused lookups, in the envelope of each version. */
import { RecentCache } from '../base/tables.js';
import type { Failure, FailureKind } from '../failure.js';
import { jsonMembers, type Format } from './tree.js';
import {
  currentText,
  LEGACY_XML_CLOSE,
  LEGACY_XML_OPEN,
  legacyXmlHead,
  metadata,
  responseOf,
} from './response-code.js';

/**
 * The body of a failure. Versions up to 50 have members at the top level; all other versions, even
 * unknown ones, have the current envelope.
 */
export function failureBytes(
  version: number,
  failure: Failure,
  format: Format,
  baseUrl: string,
): Uint8Array {
  const response = responseOf(failure);
  const text =
    version >= 10 && version < 60
      ? legacyText(version, response, format)
      : currentText(metadata(response, baseUrl), format);
  return Buffer.from(text, 'utf8');
}

/** How many bodies are kept in each of two generations. */
const BODIES_MAX = 256;

/**
 * Bodies of failures for one base URL. They are kept, since most failures have one of a few
 * sentences.
 */
export class FailureBodies {
  readonly #baseUrl: string;
  /** JSON in the current envelope, by the detail in it. */
  readonly #kept = new RecentCache<string, { kind: FailureKind; bytes: Uint8Array }>(BODIES_MAX);

  constructor(baseUrl: string) {
    this.#baseUrl = baseUrl;
  }

  /**
   * The body of a failure in a version and format. Bodies with a detail are kept for version 60 as
   * JSON.
   */
  bytes(version: number, failure: Failure, format: Format): Uint8Array {
    const { failure: kind, detail } = failure;
    const own = version !== 60 || format !== 'json' || detail === undefined;
    if (own) return failureBytes(version, failure, format, this.#baseUrl);
    const kept = this.#kept.get(detail);
    if (kept !== undefined && kept.kind === kind) return kept.bytes;
    const bytes = failureBytes(version, failure, format, this.#baseUrl);
    this.#kept.set(detail, { kind, bytes });
    return bytes;
  }
}

function legacyText(
  version: number,
  { code, name, message }: ReturnType<typeof responseOf>,
  format: Format,
): string {
  if (format === 'json') {
    const head = { version: `v${version}`, rCode: code, rName: name, rMessage: message };
    return `{${jsonMembers({ ...head, results: [] })}}`;
  }
  return LEGACY_XML_OPEN + legacyXmlHead(version, code, name, message) + LEGACY_XML_CLOSE;
}
