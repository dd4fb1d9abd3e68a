/** What is answered to who asks for the result of a job. */
import { statSync } from 'node:fs';
import type { DuplexExchange } from '../../http/duplex-exchange.js';
import type { Caller } from '../../http/gate.js';
import { problemReply } from '../../http/problem-reply.js';
import { headOf, type Reply, type Request } from '../../http/reply.js';
import type { JobRecord } from '../../store/jobs.js';
import { CSV_TYPE, NDJSON_TYPE, packedOut } from '../run/request.js';
import type { JobRegistry } from './registry.js';
import { namesTag, parseRange, ResultStream } from './result.js';

const AWAY = 'The result lies with another server, on another machine. Ask again, where a load '
  + 'balancer may lead there, or ask that server.';
/** There is no such job, or none of this account. */
export function missing(caller: Caller): Reply {
  return caller.problem(404, 'There is no such job.');
}

/** Answers with the result of a job as the conditions and the range of the request ask. */
export function sendResult(
  jobs: JobRegistry, request: Request, exchange: DuplexExchange, caller: Caller,
  record: JobRecord,
): void {
  const { fields, instance } = caller;
  const { id, result, state, reason, dataset } = record;
  if (result === null) {
    const why = reason === null ? '' : ` ${reason}`;
    return exchange.send(caller.problem(409, `The job is ${state} and has no result.${why}`));
  }
  const { bytes, sha256 } = result;
  const [plainTag, packedTag] = [`"${sha256}"`, `"${sha256}-gzip"`];
  const named = request.header('range');
  const condition = request.header('if-range');
  const range = condition === '' || condition === plainTag ? parseRange(named, bytes) : null;
  const gzip = named === '' && packedOut((name) => request.header(name));
  const common = {
    ...fields, 'X-Situs-Job': id, 'X-Situs-Dataset': dataset, 'Accept-Ranges': 'bytes',
    ETag: gzip ? packedTag : plainTag, Vary: 'Accept-Encoding',
  };
  const type = jobs.view(record).output === 'csv' ? `${CSV_TYPE}; charset=utf-8` : NDJSON_TYPE;
  const unless = request.header('if-none-match');
  if (unless !== '' && namesTag(unless, [plainTag, packedTag])) {
    return exchange.send({ status: 304, head: headOf(type, common), body: '' });
  }
  if (range === 'unsatisfiable') {
    return exchange.send(problemReply({
      status: 416, detail: `The result has ${bytes} bytes.`, instance,
    }, { ...fields, 'Content-Range': `bytes */${bytes}` }));
  }
  const { first, last } = range ?? { first: 0, last: bytes - 1 };
  const head = headOf(type, {
    ...common,
    ...(gzip ? { 'Content-Encoding': 'gzip' } : {}),
    ...(range === null ? {} : { 'Content-Range': `bytes ${first}-${last}/${bytes}` }),
  });
  const isHere = [undefined, '', jobs.options.place].includes(record.place);
  const path = jobs.options.space.output(id);
  const send = (): void => void new ResultStream(exchange, {
    path, range: { first, last }, gzip, head, status: range === null ? 200 : 206,
    missing: () => exchange.send(isHere ? missing(caller) : caller.problem(503, AWAY)),
  });
  // What lies here of a job of another server is whole, or of its beginning here.
  const isWhole = isHere || statSync(path, { throwIfNoEntry: false })?.size === bytes;
  if (isWhole || !jobs.keeper.has(record)) send();
  else void jobs.keeper.bringResult(record).then(send);
}
