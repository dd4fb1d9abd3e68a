/** `situs simulate`: the other end of a connection, to try the service out with. */
import { once } from 'node:events';
import { parseArgs } from 'node:util';
import { FAULT_HEADER, parseFaults, type FaultRates } from '../provider/simulator/faults.js';
import { SIMULATED_KEY, Simulator } from '../provider/simulator/server.js';
import { refuseExtra, UsageError } from './usage.js';

const PORT_DEFAULT = 8790;

export const USAGE =
  `situs simulate provider [options]    a compliance provider in memory, until Ctrl-C

  --port N         listens on 127.0.0.1:N; 0 takes a free port (${PORT_DEFAULT})
  --seed N         makes ids and faults come out the same each time (1)
  --key KEY        the API key that every connection has (${SIMULATED_KEY})
  --slow-ms N      how long a slow answer takes, in milliseconds (60000)
  --faults SHARES  share of requests that go wrong: slow=0.1,reset=0.05,429=0.1,500=0.1,garbage=0.1

A request with the header ${FAULT_HEADER} meets the fault named there. Any connection id exists.
Rates are invented. Situs talks to it with
  SITUS_PROVIDER_URL=http://127.0.0.1:${PORT_DEFAULT} SITUS_ALLOW_PRIVATE_NETWORK=1 situs serve
`;

const NUMBER_MAX = 999_999_999;
const PORT_MAX = 65_535;

function wholeNumber(
  text: string | undefined, name: string, fallback: number, max = NUMBER_MAX,
): number {
  if (text === undefined) return fallback;
  const number = Number(text);
  if (/^\d+$/.test(text) && number <= max) return number;
  throw new UsageError(`--${name} is a whole number from 0 to ${max}`);
}

function faultsOf(text: string): FaultRates {
  try {
    return parseFaults(text);
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

/** Runs `situs simulate`. */
export async function simulateCommand(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args], allowPositionals: true,
    options: {
      port: { type: 'string' }, seed: { type: 'string' },
      key: { type: 'string' }, 'slow-ms': { type: 'string' }, faults: { type: 'string' },
    },
  });
  if (positionals[0] !== 'provider') throw new UsageError(USAGE);
  refuseExtra(positionals, 1);
  const simulator = await Simulator.start({
    port: wholeNumber(values.port, 'port', PORT_DEFAULT, PORT_MAX),
    seed: wholeNumber(values.seed, 'seed', 1),
    slowMs: wholeNumber(values['slow-ms'], 'slow-ms', 60_000),
    key: values.key ?? SIMULATED_KEY,
    faults: faultsOf(values.faults ?? ''),
  });
  const ended = Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
  process.stdout.write(`The simulated provider answers on ${simulator.url}\n`);
  await ended;
  await simulator.close();
  return 0;
}
