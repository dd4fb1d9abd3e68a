/** `situs simulate`: a stand-in for another service, to try Situs with. */
import { once } from 'node:events';
import { type FaultRates, parseFaults } from '../provider/simulator/faults.js';
import { Simulator } from '../provider/simulator/server.js';
import { print, UsageError } from './command-line.js';
import { messageOf } from '../log.js';

function faultsOf(text: string): FaultRates {
  try {
    return parseFaults(text);
  } catch (error) {
    throw new UsageError(messageOf(error));
  }
}

/** Runs `situs simulate provider` until it is interrupted. */
export async function simulateCommand(asked: {
  readonly port: number;
  readonly seed: number;
  readonly slowMs: number;
  readonly key: string;
  readonly faults?: string;
}): Promise<void> {
  const simulator = await Simulator.start({ ...asked, faults: faultsOf(asked.faults ?? '') });
  const ended = Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
  print(`The simulated provider answers on ${simulator.url}`);
  await ended;
  await simulator.close();
}
