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
 * The body of a failure. Versions up to 50 have theirs at the top level; everything else, unknown
 * versions included, has the current envelope.
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

/** Bodies kept, in each of two generations. */
const BODIES_MAX = 256;

/** Bodies of failures with one base URL; few sentences make most of them. */
export class FailureBodies {
  readonly #baseUrl: string;
  /** JSON in the current envelope, by what is said. */
  readonly #kept = new RecentCache<string, { kind: FailureKind; bytes: Uint8Array }>(BODIES_MAX);

  constructor(baseUrl: string) {
    this.#baseUrl = baseUrl;
  }

  /** The body of a failure in a version and format; those with a detail of version 60 are kept. */
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
