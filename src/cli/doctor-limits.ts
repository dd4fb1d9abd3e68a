/** The check of `situs doctor` that asks the server of SITUS_LIMITS. */
import { checkRedis } from '../limit/redis-check.js';
import { ANSWER_MS_MAX } from '../limit/shared-rates.js';
import type { Checked, Finding, Level } from './doctor-checks.js';

const found = (level: Level, text: string): readonly Finding[] => [{ level, text }];

/** Whether the windows of all nodes can be asked. */
export async function limits({ config }: Checked): Promise<readonly Finding[]> {
  const { url, sharePercent } = config.limits;
  if (url === '') return found('note', 'rates hold on this node alone (SITUS_LIMITS)');
  const { server, fault, warning, version, milliseconds } = await checkRedis(url);
  if (fault !== null) {
    return found('warning', `${server} does not keep the rate windows of all nodes (${fault}); this`
      + ` node admits ${sharePercent} % of each rate alone`);
  }
  const name = `${version} at ${server}`;
  if (warning !== null) return found('warning', `${name} ${warning}`);
  return found(milliseconds > ANSWER_MS_MAX ? 'warning' : 'ok',
    `${name} keeps the rate windows of all nodes; it answered in ${Math.ceil(milliseconds)} ms`);
}
