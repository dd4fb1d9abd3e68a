/** Makes a node of a fleet out of the configuration. */
import { createHash } from 'node:crypto';
import { hostname } from 'node:os';
import { packageVersion } from '../base/package-version.js';
import type { Config } from '../config.js';
import type { LiveDataset } from '../dataset/live.js';
import type { Log } from '../log.js';
import { Follower } from './follower.js';
import { openPlace } from './open-place.js';
import { pullApart } from './puller.js';

/** Digits that tell the nodes of one machine apart. */
const DIGITS = 6;

/** Machine, folder and process: servers may share a folder, and a machine have several. */
export function nodeName(varDir: string): string {
  const folder = createHash('sha256').update(varDir).digest('hex').slice(0, DIGITS);
  return `${hostname().replaceAll(/[^A-Za-z0-9-]+/g, '_')}-${folder}-${process.pid}`;
}

interface Opening {
  readonly config: Config;
  readonly live: LiveDataset;
  readonly log: Log;
  readonly signedBy: readonly string[];
}

/**
 * Null where no fleet is followed.
 * @throws Error that names the setting when its address cannot be used.
 */
export async function openFollower(
  { config, live, log, signedBy }: Opening,
): Promise<Follower | null> {
  const { datasets, aws, allowPrivateNetwork, varDir } = config;
  if (datasets === '') return null;
  const settings = { datasets, aws, allowPrivateNetwork };
  return new Follower({
    place: await openPlace(settings), live, varDir, log, signedBy,
    node: nodeName(varDir), program: packageVersion(),
    pull: (offer, signal, pulled) =>
      pullApart({ place: settings, offer, varDir, signedBy }, signal, pulled),
  });
}
