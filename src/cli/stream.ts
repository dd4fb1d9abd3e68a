/** `situs stream`: answers lookups and carts from a subject of NATS JetStream as they arrive. */
import { availableParallelism } from 'node:os';
import { isProblem } from '../base/problem.js';
import { CHUNKS_PER_WORKER, openChunkPool } from '../bulk/run/chunk-pool.js';
import { readKeptRun, type KeptRun } from '../bulk/run/request.js';
import { ChunkSchedule } from '../bulk/run/schedule.js';
import { MessageAnswerer } from '../bulk/stream/answerer.js';
import { loadConfig } from '../config.js';
import { openLive } from '../dataset/open-live.js';
import type { LiveDataset } from '../dataset/live.js';
import { createLog, type Log } from '../log.js';
import { metricsAddress, MetricsListener } from '../monitor/listener.js';
import { RowsProgress } from './rows-progress.js';
import { keptRelease, requireActive, requiredKeys } from './sound-release.js';
import {
  checkSubjects,
  connectNats,
  openBroker,
  type Broker,
  type StreamAsked,
} from './stream-broker.js';
import { StreamWork } from './stream-work.js';
import { progress as tell, UsageError, watchSignals } from './command-line.js';

/** Counts the messages for Prometheus, if that is set; returns a function that ends it. */
async function openMetrics(setting: string, log: Log, work: StreamWork): Promise<() => void> {
  const address = metricsAddress(setting);
  if (address === null) return () => undefined;
  const { Gauge, Registry } = await import('prom-client');
  const registry = new Registry();
  const series = (name: string, help: string, read: () => number): void => {
    registry.registerMetric(
      new Gauge({
        name,
        help,
        registers: [],
        collect() {
          this.set(read());
        },
      }),
    );
  };
  series('situs_nats_answered', 'Messages answered since the start', () => work.answered);
  series('situs_nats_refused', 'Messages refused since the start', () => work.refused);
  series('situs_nats_lag', 'Messages that no process has in hand', () => work.lag);
  const listener = new MetricsListener(registry, log);
  await listener.listen(address);
  return () => listener.close();
}

/** The dataset and moment to answer with; null for the active one. */
function keptOf({ dataset, at }: StreamAsked, varDir: string): KeptRun | null {
  const asked = readKeptRun({ dataset: dataset ?? null, at: at ?? null });
  if (isProblem(asked)) throw new UsageError(asked.detail);
  if (asked.kept === undefined) return null;
  keptRelease(varDir, asked.kept.dataset);
  return asked.kept;
}

/** Where messages take their release from: the one that is named, or the active one. */
async function releaseOf(
  live: LiveDataset,
  kept: KeptRun | null,
): Promise<Pick<LiveDataset, 'pin' | 'unpin'>> {
  if (kept === null) return live;
  const release = await live.borrow(kept.dataset);
  if (release === null) throw new Error(`the dataset ${kept.dataset} was removed`);
  return { pin: () => release, unpin: () => undefined };
}

/** Answers messages until a signal arrives. */
async function work(
  running: StreamWork,
  broker: Broker,
  asked: StreamAsked,
  dataset: string,
): Promise<void> {
  const unwatch = watchSignals(() => running.stop());
  const progress =
    asked.quiet === true
      ? null
      : new RowsProgress(process.stderr, null, () => ({
          rows: running.answered + running.refused,
          bytes: 0,
          more: `  ${running.refused} refused  ${running.lag} waiting`,
        }));
  if (asked.quiet !== true) {
    tell(`${asked.from} to ${asked.to} at ${broker.connection.getServer()}; dataset ${dataset}`);
  }
  try {
    await running.run();
  } finally {
    progress?.end();
    unwatch();
    if (asked.quiet !== true) tell(`${running.answered} answered, ${running.refused} refused`);
  }
}

/**
 * Runs `situs stream`; returns the exit code after a signal has ended it.
 * @throws UsageError, or Error with a sentence where it cannot begin or continue.
 */
export async function streamCommand(asked: StreamAsked): Promise<number> {
  checkSubjects(asked);
  const { varDir, baseUrl, precisionMin, refuseUnruled, logLevel, metrics } = loadConfig();
  const active = requireActive(varDir);
  const kept = keptOf(asked, varDir);
  const dataset = kept?.dataset ?? active;
  const connection = await connectNats(asked);
  try {
    const broker = await openBroker(connection, asked);
    const log = createLog(logLevel);
    const live = await openLive(varDir, log, requiredKeys(), { beside: true });
    const releases = await releaseOf(live, kept).catch((error: unknown) => {
      live.close();
      throw error;
    });
    const threads = asked.threads ?? availableParallelism();
    const pool = openChunkPool({
      releases,
      log,
      threads,
      settings: { baseUrl, precisionMin, refuseUnruled, logLevel },
    });
    const schedule = new ChunkSchedule(pool, threads * CHUNKS_PER_WORKER);
    const { to, failed, ordered = false } = asked;
    const now = (): number => kept?.atMs ?? Date.now();
    const answerer = new MessageAnswerer({ schedule, releases, now });
    const running = new StreamWork(broker, answerer, { to, failed, ordered, tell });
    try {
      const closeMetrics = await openMetrics(metrics, log, running);
      await work(running, broker, asked, dataset).finally(closeMetrics);
    } finally {
      await pool.close();
      live.close();
    }
    return 0;
  } finally {
    await connection.close();
  }
}
