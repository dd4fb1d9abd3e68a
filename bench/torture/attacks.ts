/** The attacks of the case `stalls`: one entry for each kind of load by one client. */
import { KEYS } from '../../test/support/merchant-service.js';
import { HOSTILE_BODIES } from './hostile-bodies.js';
import {
  sendFor,
  trickleFor,
  type BodyOperation,
  type SentBody,
  type Trickle,
} from './hostile-requests.js';
import { largeBodies, type Merchants } from './large-carts.js';

const MIB = 1_048_576;
/** The length of bodies for operations that state no limit. */
const OPEN_BYTES = 4 * MIB;
const CONNECTIONS = 100;
const TRICKLE_MS = 20;
const LARGE_TIMES = 4;

/** One kind of load. */
export interface Attack {
  readonly name: string;
  readonly times?: number;
  run(milliseconds: number): Promise<unknown>;
}

/** One attack for each hostile body, with the longest length that the operation accepts. */
function bodyAttacks(
  port: number,
  { path, type, bytesMax }: BodyOperation,
  { own, connected }: Merchants,
): readonly Attack[] {
  return HOSTILE_BODIES.map(
    ({ name, make }): Attack => ({
      name: `${path} ${type}: ${name}`,
      run: (milliseconds) => {
        const bodies = ['', own, connected].map(
          (merchantId): SentBody => ({
            path,
            type,
            body: make(
              bytesMax ?? OPEN_BYTES,
              merchantId === '' ? '' : `"merchantId":"${merchantId}",`,
            ),
          }),
        );
        return sendFor(port, KEYS.alpha, bodies, milliseconds);
      },
    }),
  );
}

function headOf(path: string, type: string, key: string | null): string {
  return (
    `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: ${type}\r\n` +
    `${key === null ? '' : `X-API-KEY: ${key}\r\n`}Transfer-Encoding: chunked\r\n\r\n`
  );
}

/** A chunk of a chunked body. */
function chunkOf(text: string): string {
  return `${text.length.toString(16)}\r\n${text}\r\n`;
}

/** A hundred connections, divided among all operations. */
function tricklesOf(
  operations: readonly BodyOperation[],
  key: string | null,
  piece: string,
): readonly Trickle[] {
  return Array.from({ length: CONNECTIONS }, (_, at) => {
    const { path, type } = operations[at % operations.length]!;
    const chunk = chunkOf(piece);
    return { first: headOf(path, type, key) + chunk, piece: chunk, eachMs: TRICKLE_MS };
  });
}

function sharedAttacks(port: number, operations: readonly BodyOperation[]): readonly Attack[] {
  const trickle =
    (key: string | null, piece: string) =>
    (milliseconds: number): Promise<void> =>
      trickleFor(port, tricklesOf(operations, key, piece), milliseconds);
  return [
    { name: 'a hundred slow trickles', times: LARGE_TIMES, run: trickle(KEYS.alpha, '[') },
    {
      name: 'a hundred bodies without a key',
      times: LARGE_TIMES,
      run: trickle(null, 'x'.repeat(16_384)),
    },
  ];
}

function largeAttacks(port: number, merchants: Merchants): readonly Attack[] {
  return Object.entries(largeBodies(merchants)).map(
    ([name, bodies]): Attack => ({
      name,
      times: LARGE_TIMES,
      run: (milliseconds) => sendFor(port, KEYS.alpha, bodies, milliseconds),
    }),
  );
}

/** All attacks on these operations, beginning with those on several operations at once. */
export function attacksOn(
  port: number,
  operations: readonly BodyOperation[],
  merchants: Merchants,
): readonly Attack[] {
  return [
    ...sharedAttacks(port, operations),
    ...largeAttacks(port, merchants),
    ...operations.flatMap((operation) => bodyAttacks(port, operation, merchants)),
  ];
}
