/** What replacing listeners without a gap needs of the kernel, for `situs doctor`. */
import { existsSync, readFileSync } from 'node:fs';
import type { Config } from '../config.js';
import type { Finding } from './doctor-checks.js';

const MIGRATE = '/proc/sys/net/ipv4/tcp_migrate_req';

/** Whether connections that come while a listener is replaced are handed on. */
export function listenerFindings(
  { listeners, supervised }: Pick<Config, 'listeners' | 'supervised'>, path = MIGRATE,
): readonly Finding[] {
  if (listeners === 1 && !supervised) {
    return [{ level: 'ok', text: 'one server, without a supervisor' }];
  }
  const text = `${listeners === 1 ? '1 listener' : `${listeners} listeners`} with a supervisor`;
  const migrates = existsSync(path) && readFileSync(path, 'latin1').trim() === '1';
  return [migrates ? { level: 'ok', text } : {
    level: 'note',
    text: `${text}; a replacement may reset a connection that just comes, unless `
      + 'net.ipv4.tcp_migrate_req is 1 (sysctl)',
  }];
}
