/** What surrounds the content of v60. */
import type { WireObject } from './tree.js';

export const V60_XML_OPEN = '<?xml version="1.0" encoding="UTF-8"?>\n<response>';
export const V60_XML_CLOSE = '</response>';

/** The member `metadata` of every v60 answer but the postal list. */
export function metadata(
  { code, name, message }: {
    readonly code: number; readonly name: string; readonly message: string;
  },
  baseUrl: string,
  situs?: WireObject,
): WireObject {
  const definition = `${baseUrl}/request/v60/schema`;
  return {
    metadata: {
      version: 'v60', response: { code, name, message, definition },
      ...(situs === undefined ? {} : { situs }),
    },
  };
}
