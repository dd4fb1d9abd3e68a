/** The check of `situs doctor` that looks at a fleet's datasets. */
import { currentRelease } from '../dataset/release.js';
import { openPlace } from '../distribution/open-place.js';
import { readState } from '../distribution/state.js';
import { messageOf } from '../log.js';
import type { Checked, Finding } from './doctor-checks.js';

/** Whether the place can be read, and whether this node has what is active there. */
export async function fleet({ config }: Checked): Promise<readonly Finding[]> {
  const { datasets, varDir } = config;
  if (datasets === '') return [{ level: 'note', text: 'no fleet is followed (SITUS_DATASETS)' }];
  const place = await openPlace(config);
  try {
    const { state: { active } } = await readState(place);
    if (active === null) {
      return [{ level: 'warning', text: `no dataset is active at ${place.name}` }];
    }
    const here = currentRelease(varDir);
    return [active === here
      ? { level: 'ok', text: `${active} is active at ${place.name}, and here` }
      : {
        level: 'fault', text: `${active} is active at ${place.name}, and ${here ?? 'none'} here: `
          + 'this node is not ready',
      }];
  } catch (error) {
    return [{ level: 'warning', text: `${messageOf(error)}; what is active here goes on` }];
  } finally {
    await place.close().catch(() => undefined);
  }
}
