/** Lines of NDJSON output: a row's number, the caller's id and the whole answer. */
import type { Answer, BodyPart } from '../../engine/frame.js';
import { jsonValue } from '../json.js';
import { RESPONSE_CODES, SUCCESS } from '../response-code.js';
import type { ByteWriter } from './byte-writer.js';
import type { RowRefusal } from './job.js';
import { ID_CHARS_MAX } from './limit.js';

/** What names a row to its caller. */
export type RowId = string | number | null;

const COMMA = 44;
const LINE_END = '\n';

/** Whether a value can be an id: text of bounded length, or a whole number that JSON keeps. */
export function isRowId(value: unknown): value is RowId {
  if (typeof value === 'string') return value.length <= ID_CHARS_MAX;
  return value === null || (typeof value === 'number' && Number.isSafeInteger(value));
}

/** The parameter that a code is about, where the code alone tells. */
const FIELD_OF_CODE: Readonly<Record<number, string>> = {
  [RESPONSE_CODES['invalid-state'].code]: 'state',
  [RESPONSE_CODES['invalid-city'].code]: 'city',
  [RESPONSE_CODES['invalid-postal-code'].code]: 'postalcode',
  [RESPONSE_CODES['address-incomplete'].code]: 'address',
  [RESPONSE_CODES['invalid-historical'].code]: 'historical',
  [RESPONSE_CODES['international-not-enabled'].code]: 'countryCode',
  [RESPONSE_CODES['product-rules-not-enabled'].code]: 'taxabilityCode',
};

/** How a sentence about one parameter begins. */
const NAMED = /(?:^| )Parameters? (\w+)/;

/** The parameter at fault; null where none is alone. */
export function fieldOf(code: number, message: string): string | null {
  return NAMED.exec(message)?.[1] ?? FIELD_OF_CODE[code] ?? null;
}

function bodyText(body: readonly BodyPart[]): string {
  return body.map((part) => (typeof part === 'string' ? part : Buffer.from(part).toString()))
    .join('');
}

interface RefusalBody {
  readonly metadata?: { readonly response: { readonly message: string } };
}

/** What a refused answer says, read from its body. */
export function refusalOf(
  line: number, { code, body }: Pick<Answer, 'code' | 'body'>, field?: string | null,
): RowRefusal {
  const parsed: RefusalBody = JSON.parse(bodyText(body));
  const message = parsed.metadata?.response.message ?? '';
  return { line, code, message, field: field === undefined ? fieldOf(code, message) : field };
}

/** What a line is written of; one with a `message` has no body. */
export type LineAnswer = Pick<Answer, 'code' | 'body'> & { readonly message?: string };

/**
 * Writes a line: `{"line":1,"id":null,` and the members of the answer's body. One that is refused
 * has a member `error` before these. `count` names the number of the line.
 */
export function writeLine(
  into: ByteWriter, line: number, id: RowId, answer: LineAnswer, field?: string | null,
  count: 'line' | 'seq' = 'line',
): RowRefusal | null {
  let refusal: RowRefusal | null = null;
  let head = `{"${count}":${line},"id":${jsonValue(id)}`;
  if (answer.code !== SUCCESS.code) {
    refusal = answer.message === undefined ? refusalOf(line, answer, field)
      : { line, code: answer.code, message: answer.message, field: field ?? null };
    const { code, message } = refusal;
    const error = `{"code":${code},"message":${jsonValue(message)},"field":`;
    head += `,"error":${error}${jsonValue(refusal.field)}}`;
  }
  into.text(head);
  if (answer.message !== undefined) {
    into.text('}\n');
    return refusal;
  }
  const open = into.length;
  for (const part of answer.body) into.part(part);
  // The body's own brace gives way to the comma before its first member.
  into.put(open, COMMA);
  into.text(LINE_END);
  return refusal;
}
