/** Shapes that the entries of recipes consist of. */
import {
  anyText,
  closed,
  list,
  type Members,
  optional,
  type Shape,
  textThat,
} from '../base/shape.js';
import { readsNothing } from '../base/shape-reader.js';
import { compileFaults, type FaultCheck, ownRule } from '../base/validator.js';
import { parseDate } from '../tax/date.js';

/** A text that is not empty. */
export const TEXT = anyText(1);
export const TEXTS = list(TEXT);
export const MAY = optional(TEXT);
export const MAY_LIST = optional(TEXTS);

/** A day in a form that lists use. */
export const DAY = textThat((text) => parseDate(text) !== null, 'dayText', { type: 'string' });
/** A regular expression. */
export const EXPRESSION = textThat(isExpression, 'expression', { type: 'string' });

/** Whether a text is a regular expression, and not empty. */
export function isExpression(text: string): boolean {
  try {
    return text !== '' && new RegExp(text).source !== '';
  } catch {
    return false;
  }
}

/**
 * Texts under any names, which are those of a publisher or a state. A text that `isValid` rejects
 * is reported as an error of type `type`.
 */
export function textsByName(
  isValid: (text: string) => boolean = () => true,
  type = 'text',
): Shape<Readonly<Record<string, string>>> {
  return {
    optional: false,
    read: readsNothing,
    schema: { type: 'object', additionalProperties: { type: 'string' } },
    rule: () =>
      ownRule((value, found) => {
        if (typeof value !== 'object' || value === null) found.push({ type: 'object' });
        else {
          for (const [name, text] of Object.entries(value)) {
            if (typeof text !== 'string') found.push({ type: 'text', below: `.${name}` });
            else if (!isValid(text)) found.push({ type, below: `.${name}` });
          }
        }
        return value;
      }),
  };
}

/** Compiles the check of a shape. It reports unknown keys as errors of their own. */
export function faultsOf(shape: Shape<unknown>): FaultCheck {
  return compileFaults(shape.rule());
}

/** A member with these keys: none where there are no keys, optional where all keys are. */
export function group(name: string, keys: Members): Members {
  const shapes = Object.values(keys);
  if (shapes.length === 0) return {};
  const member = closed(keys);
  return { [name]: shapes.every((shape) => shape.optional) ? optional(member) : member };
}

/** The entry of a recipe that names a reader, with its check, which is compiled once. */
export interface Entry {
  readonly entry: Shape<unknown>;
  readonly faults: FaultCheck;
}

/** Makes the entry of a shape. */
export function entryOf(entry: Shape<unknown>): Entry {
  return { entry, faults: faultsOf(entry) };
}
