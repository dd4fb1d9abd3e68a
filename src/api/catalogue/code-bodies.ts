/** Bodies of the product-code operations. */
import type { Tic } from '../../engine/product/tic-catalogue.js';
import type { FoundTic } from '../../engine/product/tic-search.js';
import { jsonMembers, type WireObject } from '../../wire/tree.js';
import { V60_XML_CLOSE, V60_XML_OPEN } from '../../wire/lookup-envelope.js';
import type { Format } from '../../wire/version.js';
import { xmlMembers } from '../../wire/xml.js';

/** Path of the JSON Schema of search answers. */
export const TIC_SEARCH_SCHEMA = '/schemas/ticsearch';

/** No longer labels are held, so a title stands for each of them. */
function entry({ tic, title, parent }: Tic): WireObject {
  return { tic: { id: tic, parent, title, label: title, nl_title: title, nl_label: title } };
}

/** The whole catalogue, flat. */
export function ticListBytes(tics: readonly Tic[], format: Format): Uint8Array {
  const members = { tic_list: tics.map(entry) };
  return Buffer.from(format === 'json'
    ? `{${jsonMembers(members)}}`
    : `${V60_XML_OPEN}${xmlMembers(members)}${V60_XML_CLOSE}`, 'utf8');
}

function result({ tic, score }: FoundTic, index: number): WireObject {
  return {
    tic: tic.tic,
    name: tic.title,
    ticId: Number(tic.tic),
    label: tic.title,
    naturalLabel: tic.title,
    description: tic.words,
    documentation: '',
    rank: index + 1,
    score,
  };
}

/** What a search found, best first. All of it is on one page. */
export function ticSearchBody(query: string, found: readonly FoundTic[], baseUrl: string): string {
  const members = {
    $schema: baseUrl + TIC_SEARCH_SCHEMA, query, nextCursor: null, results: found.map(result),
  };
  return `{${jsonMembers(members)}}`;
}
