/** GET /system/metadata: public; what runs where. */
import { hostname } from 'node:os';
import { headOf, JSON_TYPE } from '../../http/reply.js';
import type { Route } from '../../http/router.js';

/** Clients' types declare `go_version` as a string; this runtime has none. */
export function metadataBody(): string {
  return JSON.stringify({
    go_version: '', hostname: hostname(), runtime_version: `node ${process.version}`,
  });
}

export function metadataRoute(): Route {
  const body = metadataBody();
  return {
    method: 'GET',
    path: '/system/metadata',
    bodyBytesMax: 0,
    deadlineMs: 0,
    handle: (_request, answer) => {
      answer.send({ status: 200, head: headOf(JSON_TYPE), body });
    },
  };
}
