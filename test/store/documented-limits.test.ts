/** What the pages say of shares, kept answers, invitations, jobs and the outbox is what holds. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { JOB_BODY_BYTES_MAX } from '../../src/bulk/job/create.js';
import { JOBS_KEPT_MAX, JOBS_OPEN_MAX, JOBS_RUNNING_MAX } from '../../src/bulk/job/registry.js';
import { GZIP_RATIO_MAX } from '../../src/bulk/run/intake.js';
import { SPOOL_ACCOUNT_PART } from '../../src/bulk/run/spool.js';
import { UPLOADS_MAX, UPLOADS_PER_ACCOUNT_MAX, TRAILER_MS } from '../../src/bulk/run/uploads.js';
import { loadConfig } from '../../src/config.js';
import { SLOW_MS, SLOW_MS_MAX, UNDER_WAY_MAX } from '../../src/event/deliverer.js';
import { RETRY_AFTER_MS_MAX } from '../../src/event/attempt.js';
import { ATTEMPT_MS_MAX } from '../../src/event/webhook.js';
import { packageRoot } from '../../src/ingest/source-files.js';
import { AUDIT_ENTRIES_MAX, AUDIT_MS_MAX } from '../../src/store/audit.js';
import { IDEMPOTENCY_KEY_CHARS_MAX, KEPT_MS_MAX, SWEEP_MS } from '../../src/store/idempotency.js';
import {
  INVITATIONS_ACCOUNT_DAY_MAX,
  INVITATIONS_RECIPIENT_DAY_MAX,
} from '../../src/store/invited.js';
import { NEXUS_LOCATIONS_MAX } from '../../src/store/nexus-count.js';
import {
  DEAD_ACCOUNT_MAX,
  DEAD_MAX,
  WAITING_ACCOUNT_MAX,
  WAITING_MAX,
} from '../../src/store/outbox.js';
import { RETIRED_MS_MAX } from '../../src/store/retired.js';
import { SHARE_BYTES_MAX } from '../../src/store/share.js';

const MIB = 1_048_576;
const GIB = 1024 * MIB;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const WORDS = ['', 'one', 'two', 'three', 'four', 'five'];

const settings = loadConfig({});
const told = (number: number): string => number.toLocaleString('en');
const days = `${RETIRED_MS_MAX / DAY} days`;
const hours = `${KEPT_MS_MAX / HOUR} hours`;
const spool = settings.bulkSpoolBytesMax;

/** Sentences of each page, line breaks as spaces, each with a number of the program in it. */
const SENTENCES: Readonly<Record<string, readonly string[]>> = {
  api: [
    `| merchants, credentials, nexus | ${SHARE_BYTES_MAX.merchants / MIB} MiB of records | 429 | ` +
      `${days} after they were deleted |`,
    `| nexus locations of a merchant | ${told(NEXUS_LOCATIONS_MAX)} | 429 |`,
    `${SHARE_BYTES_MAX.kept / MIB} MiB of records | 429; requests without the field go on | ` +
      `${hours} after each answer, within ${SWEEP_MS === 600_000 ? 'ten minutes' : '?'} |`,
    `\`SITUS_BULK_SPOOL_BYTES_MAX\`, ${(spool * SPOOL_ACCOUNT_PART) / MIB} MiB | 507 |`,
    `| events and mails that wait to be sent | ${told(WAITING_ACCOUNT_MAX)} of each kind |`,
    `| events and mails that were given up | ${told(DEAD_ACCOUNT_MAX)} of each kind |`,
    `| invitations | ${INVITATIONS_ACCOUNT_DAY_MAX} a day of UTC | 429 |`,
    `| invitations to one address, of all accounts | ${INVITATIONS_RECIPIENT_DAY_MAX} a day`,
    `\`POST /merchant/delete\` keeps the record for ${days}`,
    `caller's making: 1 to ${IDEMPOTENCY_KEY_CHARS_MAX} printable`,
    `Keys belong to the account and are kept for ${hours}`,
    `| \`Idempotency-Key\` | 1 to ${IDEMPOTENCY_KEY_CHARS_MAX} characters, else 400 |`,
  ],
  bulk: [
    `| rows of a file | \`SITUS_BULK_ROWS_MAX\`, ${told(settings.bulkRowsMax)};`,
    `| body, unpacked | \`SITUS_BULK_BYTES_MAX\`, ${settings.bulkBytesMax / GIB} GiB;`,
    `| expansion of a packed body | ${GZIP_RATIO_MAX} times`,
    `| open uploads | ${UPLOADS_PER_ACCOUNT_MAX} of an account, 429; ${UPLOADS_MAX} of all, 503 |`,
    `\`SITUS_BULK_SPOOL_BYTES_MAX\`, ${spool / GIB} GiB of all uploads, ` +
      `${SPOOL_ACCOUNT_PART === 0.25 ? 'a quarter' : '?'} of it of one account; 507`,
    `jobs of an account that have not ended, uploads among them | ${JOBS_OPEN_MAX}; 429`,
    `| jobs of an account that are kept | ${JOBS_KEPT_MAX}; 429`,
    `| jobs that run at a time | ${JOBS_RUNNING_MAX}, of different accounts`,
    `\`SITUS_JOB_BYTES_MAX\`, ${settings.jobLimits.bytesMax / GIB} GiB; 507`,
    `\`SITUS_JOB_ACCOUNT_BYTES_MAX\`, ${settings.jobLimits.accountBytesMax / GIB} GiB;`,
    `\`SITUS_JOB_ERROR_BYTES_MAX\`, ${settings.jobLimits.errorBytesMax / MIB} MiB;`,
    `| body that names a file | ${told(JOB_BODY_BYTES_MAX)} bytes; 413 |`,
    `| time after the end | \`SITUS_JOB_DAYS\`, ${settings.jobDays} days |`,
    `leads to the same job for ${hours}`,
    TRAILER_MS === HOUR ? 'for an hour' : '?',
  ],
  events: [
    `Of each kind, ${told(WAITING_MAX)} wait at most, ${told(WAITING_ACCOUNT_MAX)} of one account;`,
    `The newest ${told(DEAD_MAX)} dead are kept, ${told(DEAD_ACCOUNT_MAX)} of one account.`,
    `Answer with a 2xx status within ${ATTEMPT_MS_MAX / 1000} seconds`,
    `nothing is sent for ${SLOW_MS / 1000} seconds`,
    `for ${RETRY_AFTER_MS_MAX === DAY ? 'a day' : '?'} at most; with 429, 502 and 504 it puts off ` +
      `all, for ${SLOW_MS_MAX === HOUR ? 'an hour' : '?'} at most.`,
    `${(WORDS[UNDER_WAY_MAX] ?? '?').replace(/^./, (first) => first.toUpperCase())} attempts are ` +
      'under way at once',
  ],
  operating: [
    `The newest ${told(AUDIT_ENTRIES_MAX)} entries of each account are kept, and ` +
      `${told(AUDIT_ENTRIES_MAX)} of the operator's`,
    `for ${AUDIT_MS_MAX / DAY} days; older ones go`,
  ],
};

for (const [page, sentences] of Object.entries(SENTENCES)) {
  test(`the numbers of docs/${page}.md are those of the program`, () => {
    const text = readFileSync(join(packageRoot(), 'docs', `${page}.md`), 'utf8').replaceAll(
      /\s+/g,
      ' ',
    );
    for (const sentence of sentences) assert.ok(text.includes(sentence), sentence);
  });
}
