/** Version 30: the structure of version 20 under a name of its own. */
import type { LegacyVersion } from './legacy.js';
import { ROW_18 } from './v20.js';

export const V30: LegacyVersion = { version: 30, row: ROW_18, after: () => '' };
