/** Formats by their media types, and the one that an Accept field asks for (RFC 9110, 12.5.1). */
import type { BulkFormat } from '../../wire/bulk/job.js';

export const CSV_TYPE = 'text/csv';
export const NDJSON_TYPE = 'application/x-ndjson';

/** A map, since callers write the name: a member of every object is none of it. */
const FORMAT_OF_TYPE: ReadonlyMap<string, BulkFormat> = new Map([
  [CSV_TYPE, 'csv'], [NDJSON_TYPE, 'ndjson'], ['application/ndjson', 'ndjson'],
]);

/** What an input can be answered as, the likest first. */
const OUTPUTS: Readonly<Record<BulkFormat, readonly BulkFormat[]>> = {
  csv: ['csv', 'ndjson'], ndjson: ['ndjson'],
};

/** One entry of a field that lists what is accepted. */
interface Accepted {
  /** In lower case, without parameters. */
  readonly name: string;
  /** 0 to 1. */
  readonly weight: number;
}

/** The format of a media type without parameters, in lower case. */
export function formatOfType(type: string): BulkFormat | null {
  return FORMAT_OF_TYPE.get(type) ?? null;
}

/** The weight among parameters: 1 unless given, 0 where it is none. */
function weightOf(parameters: readonly string[]): number {
  const q = parameters.map((part) => part.trim()).find((part) => part.startsWith('q='));
  return q === undefined ? 1 : Number(q.slice(2)) || 0;
}

/** The entries of a field like Accept or Accept-Encoding. */
export function acceptedIn(field: string): readonly Accepted[] {
  return field.toLowerCase().split(',').map((entry) => {
    const [name = '', ...parameters] = entry.split(';');
    return { name: name.trim(), weight: weightOf(parameters) };
  });
}

/** How exactly a range names a format: 3 by its type, 1 as anything, 0 not at all. */
function closeness(range: string, format: BulkFormat): number {
  if (FORMAT_OF_TYPE.get(range) === format) return 3;
  if (range === (format === 'csv' ? 'text/*' : 'application/*')) return 2;
  return range === '*/*' ? 1 : 0;
}

/** The output with the highest weight, where the closest entry decides; null for none. */
export function outputAccepted(field: string, input: BulkFormat): BulkFormat | null {
  const ranges = acceptedIn(field === '' ? '*/*' : field);
  let best: BulkFormat | null = null;
  let [most, closest, first] = [0, 0, 0];
  for (const format of OUTPUTS[input]) {
    let [close, weight, at] = [0, 0, 0];
    ranges.forEach((range, index) => {
      const own = closeness(range.name, format);
      if (own > close) [close, weight, at] = [own, range.weight, index];
    });
    const better = weight > most
      || (weight === most && (close > closest || (close === closest && at < first)));
    if (weight > 0 && better) [best, most, closest, first] = [format, weight, close, at];
  }
  return best;
}
