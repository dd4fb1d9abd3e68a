/** Reading records that may have been written by an earlier version of the program. */

export type RecordFields = Readonly<Record<string, unknown>>;

/** Turns the members of one version into those of the next. */
export type RecordStep = (fields: RecordFields) => RecordFields;

function isFields(value: unknown): value is RecordFields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Thrown for records that cannot be read: the store is damaged, or a newer program wrote it. */
export function damaged(kind: string): Error {
  return new Error(`damaged ${kind} record in the store`);
}

/**
 * The members of a record in the newest version of its shape. `steps[0]` leads from version 1 to 2
 * and so on, so the newest version is one more than there are steps.
 * @throws Error when it is no record, or of a version that is not known here.
 */
export function upgraded(
  value: unknown, kind: string, steps: readonly RecordStep[] = [],
): RecordFields {
  if (!isFields(value)) throw damaged(kind);
  const { v } = value;
  if (typeof v !== 'number' || !Number.isInteger(v) || v < 1) throw damaged(kind);
  if (v > steps.length + 1) {
    throw new Error(`a ${kind} record of version ${v}: written by a newer version of Situs`);
  }
  let fields: RecordFields = value;
  for (const step of steps.slice(v - 1)) fields = step(fields);
  return fields;
}

/** A member that may be absent. */
export function textOf(fields: RecordFields, name: string, kind: string): string | undefined {
  const value = fields[name];
  if (value !== undefined && typeof value !== 'string') throw damaged(kind);
  return value;
}

/** The members that are there: absent ones must not be stored as undefined. */
export function present<Name extends string>(
  members: Readonly<Record<Name, string | undefined>>,
): { readonly [name in Name]?: string } {
  const kept: { [name in Name]?: string } = {};
  for (const name in members) {
    const value = members[name];
    if (value !== undefined) kept[name] = value;
  }
  return kept;
}
