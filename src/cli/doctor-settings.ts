/** The check of `situs doctor` that reads each setting as the start does. */
import type { Config } from '../config.js';
import { readPublicKeys } from '../dataset/signature.js';
import { messageOf } from '../log.js';
import { checkLogFile } from '../monitor/log-file.js';
import { WATCH_READERS } from '../monitor/watch-settings.js';
import type { Checked, Finding } from './doctor-checks.js';

/** Those that no check of another name reads; what they throw names the setting. */
const READERS: readonly ((config: Config) => unknown)[] = [
  ...Object.values(WATCH_READERS),
  ({ requireSignature }) => readPublicKeys(requireSignature, 'SITUS_REQUIRE_SIGNATURE'),
  ({ requestLog: { path } }) => (path === null ? null : checkLogFile(path)),
];

/** A fault for each setting that the start would refuse. */
export function settings({ config }: Pick<Checked, 'config'>): readonly Finding[] {
  const faults = READERS.flatMap((read): readonly Finding[] => {
    try {
      read(config);
      return [];
    } catch (error) {
      return [{ level: 'fault', text: messageOf(error) }];
    }
  });
  return faults.length > 0 ? faults : [{ level: 'ok', text: 'every setting can be read' }];
}
