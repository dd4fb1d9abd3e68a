/** Answers to requests that are refused by their head, before any handler sees them. */
import { HEAD_BYTES_MAX } from '../config.js';
import { problemReply } from './problem-reply.js';
import type { Reply } from './reply.js';

/** Refuses a body whose end two readers may find in different places. */
export function unclearBody(path: string): Reply {
  const detail =
    'The end of the body can be read in more than one way: send one Content-Length of ' +
    'digits, or "Transfer-Encoding: chunked" alone.';
  return problemReply({ status: 400, detail }, path);
}

/** Refuses a request that names no host, or several. */
export function unclearHost(path: string): Reply {
  return problemReply({ status: 400, detail: 'Send one Host field.' }, path);
}

/** Refuses a request line that names another version of HTTP. */
export function otherVersion(): Reply {
  return problemReply({ status: 505, detail: 'Send HTTP/1.1.' }, '');
}

/** Most header fields of a request, which is what the native server reads. */
export const FIELDS_MAX = 98;

/** Refuses a head with too many bytes or fields. */
export function longHead(path: string): Reply {
  const detail = `The head of a request may have ${HEAD_BYTES_MAX} bytes and ${FIELDS_MAX} fields.`;
  return problemReply({ status: 431, detail }, path);
}

/**
 * The answer to a request that the parser of Node.js could not read, by its error code. The path is
 * unknown, and what could not be parsed is not repeated.
 */
export function unreadableHead(code: string): Reply {
  const instance = '';
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return longHead(instance);
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return problemReply({ status: 413, detail: 'Chunks have too many extensions.' }, instance);
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return problemReply({ status: 408, detail: 'The request took too long to come.' }, instance);
    case 'HPE_INVALID_CONTENT_LENGTH':
    case 'HPE_UNEXPECTED_CONTENT_LENGTH':
    case 'HPE_INVALID_TRANSFER_ENCODING':
      return unclearBody(instance);
    default:
      return problemReply({ status: 400, detail: 'What was sent is no HTTP request.' }, instance);
  }
}
