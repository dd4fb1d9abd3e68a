/** What surrounds the content of a lookup's answer: of v60, and the rows of v10 to v50. */
import { jsonMembers, type WireObject, xmlMembers, type ApiVersion, type Format } from './tree.js';
import { SUCCESS } from './response-code.js';

export const V60_XML_OPEN = '<?xml version="1.0" encoding="UTF-8"?>\n<response>';
export const V60_XML_CLOSE = '</response>';

/** A body in the current envelope, in either format. */
export function currentText(envelope: WireObject, format: Format): string {
  return format === 'json'
    ? `{${jsonMembers(envelope)}}`
    : `${V60_XML_OPEN}${xmlMembers(envelope)}${V60_XML_CLOSE}`;
}

/** The member `metadata` of every v60 answer but the postal list. */
export function metadata(
  {
    code,
    name,
    message,
  }: {
    readonly code: number;
    readonly name: string;
    readonly message: string;
  },
  baseUrl: string,
  situs?: WireObject,
): WireObject {
  const definition = `${baseUrl}/request/v60/schema`;
  return {
    metadata: {
      version: 'v60',
      response: { code, name, message, definition },
      ...(situs === undefined ? {} : { situs }),
    },
  };
}

export const LEGACY_XML_OPEN = '<?xml version="1.0" encoding="UTF-8" ?>\n<taxrates>';
export const LEGACY_XML_CLOSE = '</taxrates>';

/** XML says `code`, `name` and `message` for rCode, rName and rMessage. */
export function legacyXmlHead(
  version: number,
  code: number,
  name: string,
  message: string,
): string {
  const named = name === '' ? {} : { name };
  return xmlMembers({ version: `v${version}`, code, ...named, message });
}

/** Everything before the first row of a success. */
export function legacyOpen(version: ApiVersion, format: Format): string {
  // The element `message` was deprecated early and stays empty on success, without a name.
  if (format === 'xml') return LEGACY_XML_OPEN + legacyXmlHead(version, SUCCESS.code, '', '');
  const head = jsonMembers({
    version: `v${version}`,
    rCode: SUCCESS.code,
    rName: SUCCESS.name,
    rMessage: SUCCESS.message,
  });
  return `{${head},"results":[`;
}

/** Everything after the last row of a success; `members` are printed members or nothing. */
export function legacyClose(members: string, format: Format): string {
  if (format === 'xml') return members + LEGACY_XML_CLOSE;
  return members === '' ? ']}' : `],${members}}`;
}
