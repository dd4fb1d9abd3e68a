/**
 * Everything the environment decides. One table, so that the documentation is generated from what
 * the program reads; the only file that touches process.env.
 */
import { resolve } from 'node:path';
import {
  CHECKS, isLogLevel, isMinimumPrecision, ownUrl, secretBytes, type LogLevel,
  type MinimumPrecision, type Setting,
} from './setting.js';

export {
  KEY_CHARS_MAX, KEY_CHARS_MIN, LOG_LEVELS, MINIMUM_PRECISIONS, type LogLevel,
  type MinimumPrecision, type Setting, type SettingType,
} from './setting.js';

export const SETTINGS = [
  { name: 'HOST', type: 'text', default: '127.0.0.1', meaning: 'Address to listen on.' },
  {
    name: 'PORT', type: 'integer', default: '3000', min: 0, max: 65_535,
    meaning: 'TCP port to listen on; 0 takes a free one.',
  },
  {
    name: 'SITUS_VAR', type: 'path', default: './var',
    meaning: 'Folder of datasets and of the store; the only one written to.',
  },
  {
    name: 'SITUS_BOOTSTRAP_KEY', type: 'key', default: '',
    meaning: 'API key made when the store is empty. Without it a random one is printed once.',
  },
  {
    name: 'SITUS_BOOTSTRAP_RATE', type: 'integer', default: '10000', min: 1, max: 100_000_000,
    meaning: 'Requests a minute of that first key.',
  },
  {
    name: 'SITUS_KEK_FILE', type: 'path', default: '',
    meaning: 'File of the keys that seal secrets, made when missing; `kek` in SITUS_VAR if unset.',
  },
  {
    name: 'SITUS_KEK', type: 'secret', default: '',
    meaning: 'The key that seals secrets, 32 bytes in base64; the file is then not looked at.',
  },
  {
    name: 'SITUS_KEK_PREVIOUS', type: 'secrets', default: '',
    meaning: 'Keys before SITUS_KEK, between commas, while a rotation is under way.',
  },
  {
    name: 'SITUS_BASE_URL', type: 'url', default: '',
    meaning: 'Public address of the service, put before links in answers.',
  },
  {
    name: 'SITUS_WORKERS', type: 'integer', default: '0', min: 0, max: 256,
    meaning: 'Worker threads that answer lookups; 0 chooses by the number of processors.',
  },
  {
    name: 'SITUS_ANSWER_CACHE_MIB', type: 'integer', default: '96', min: 0, max: 65_536,
    meaning: 'Memory for answers to lookups that are asked again, in MiB; 0 keeps none.',
  },
  {
    name: 'SITUS_BODY_MEMORY_MIB', type: 'integer', default: '256', min: 16, max: 65_536,
    meaning: 'Memory for bodies of requests under way, in MiB; what does not fit is refused, 503.',
  },
  {
    name: 'SITUS_BULK_WORKERS', type: 'integer', default: '0', min: 0, max: 256,
    meaning: 'Worker threads of bulk files, of lower priority; 0 is one for each processor.',
  },
  {
    name: 'SITUS_BULK_ROWS_MAX', type: 'integer', default: '10000000', min: 1,
    max: 4_000_000_000,
    meaning: 'Rows of one bulk file.',
  },
  {
    name: 'SITUS_BULK_BYTES_MAX', type: 'integer', default: '8589934592', min: 1024,
    meaning: 'Bytes of one bulk file, unpacked.',
  },
  {
    name: 'SITUS_BULK_SPOOL_BYTES_MAX', type: 'integer', default: '2147483648', min: 0,
    meaning: 'Disk below SITUS_VAR for bulk output that waits for its end (strict, spool); '
      + 'a quarter of it for one account.',
  },
  {
    name: 'SITUS_BULK_IDLE_SECONDS', type: 'integer', default: '60', min: 1, max: 86_400,
    meaning: 'How long the client of a bulk file may send and take nothing.',
  },
  {
    name: 'SITUS_STREAM_IDLE_SECONDS', type: 'integer', default: '600', min: 1, max: 86_400,
    meaning: 'How long the client of a stream of messages may send and take nothing.',
  },
  {
    name: 'SITUS_STREAM_RESUME_SECONDS', type: 'integer', default: '120', min: 1, max: 3_600,
    meaning: 'How long a stream that lost its connection may be resumed.',
  },
  {
    name: 'SITUS_BULK_DIR', type: 'path', default: '',
    meaning: 'Folder with one of each account of files that its bulk jobs may name; none if unset.',
  },
  {
    name: 'SITUS_JOB_DAYS', type: 'integer', default: '3', min: 1, max: 3650,
    meaning: 'Days a bulk job and its result are kept after its end.',
  },
  {
    name: 'SITUS_JOB_BYTES_MAX', type: 'integer', default: '21474836480', min: 0,
    meaning: 'Disk below SITUS_VAR for the uploads and results of all bulk jobs.',
  },
  {
    name: 'SITUS_JOB_ACCOUNT_BYTES_MAX', type: 'integer', default: '10737418240', min: 0,
    meaning: 'How much of that disk the jobs of one account may take.',
  },
  {
    name: 'SITUS_JOB_ERROR_BYTES_MAX', type: 'integer', default: '134217728', min: 0,
    meaning: 'Bytes of refused rows in all results of one account.',
  },
  {
    name: 'SITUS_PRECISION_MIN', type: 'precision', default: 'city',
    meaning: 'Weakest location still answered: point, range, zip9, street, polygon, postal or '
      + 'city.',
  },
  {
    name: 'SITUS_UNRULED', type: 'choice', default: 'tell', choices: ['tell', 'refuse'],
    meaning: 'Product codes without a rule: taxed as general goods and told, or refused.',
  },
  {
    name: 'SITUS_ACCOUNT_MESSAGE', type: 'text',
    default: 'To change the plan or its limits, ask the operator of this service.',
    meaning: 'Member message of account metrics: how to change a plan.',
  },
  {
    name: 'SITUS_PROVIDER_URL', type: 'url', default: '',
    meaning: 'Address of the compliance provider. Without it its operations are answered 503.',
  },
  {
    name: 'SITUS_PROVIDER_TIMEOUT_MS', type: 'integer', default: '20000', min: 100, max: 120_000,
    meaning: 'Longest time the provider may take to answer; then the caller gets 504.',
  },
  {
    name: 'SITUS_ALLOW_PRIVATE_NETWORK', type: 'integer', default: '0', min: 0, max: 1,
    meaning: 'With 1, configured addresses may be in private networks, and http instead of https.',
  },
  {
    name: 'SITUS_WEBHOOK_URL', type: 'text', default: '',
    meaning: 'Where events are sent. Without it there are none.',
  },
  {
    name: 'SITUS_WEBHOOK_SECRET', type: 'text', default: '',
    meaning: 'Secret that signs events; during a rotation the new one, a comma, the old one.',
  },
  {
    name: 'SITUS_SMTP_URL', type: 'text', default: '',
    meaning: 'Mail server, smtp://user:password@host:port or smtps. Without it mails wait.',
  },
  {
    name: 'SITUS_MAIL_FROM', type: 'text', default: '',
    meaning: 'Sender of mails: an address, or a name and an address in angle brackets.',
  },
  {
    name: 'SITUS_INVITE_URL', type: 'text', default: '',
    meaning: 'Page on which an invited merchant sets up its account; put into invitations.',
  },
  {
    name: 'SITUS_CORE_DUMPS', type: 'integer', default: '0', min: 0, max: 1,
    meaning: 'With 1, core dumps hold the memory of the process, and the secrets in it.',
  },
  {
    name: 'SITUS_LOG', type: 'level', default: 'info',
    meaning: 'Least important lines logged to standard error: debug, info, warn or error.',
  },
] as const satisfies readonly Setting[];

export interface Config {
  readonly host: string;
  readonly port: number;
  readonly varDir: string;
  /** Null when the first key is to be random. */
  readonly bootstrapKey: string | null;
  readonly bootstrapRate: number;
  /** Null for the place beside the store. */
  readonly kekFile: string | null;
  /** 32 bytes; null when keys come from the file. */
  readonly kek: Uint8Array | null;
  readonly kekPrevious: readonly Uint8Array[];
  /** Without a slash at the end; the server's own address when unset, empty if that is open. */
  readonly baseUrl: string;
  /** Zero chooses by the number of processors. */
  readonly workers: number;
  readonly answerCacheBytes: number;
  /** Memory of request bodies under way. */
  readonly bodyBytes: number;
  /** Zero is one per processor. */
  readonly bulkWorkers: number;
  readonly bulkRowsMax: number;
  readonly bulkBytesMax: number;
  readonly bulkSpoolBytesMax: number;
  readonly bulkIdleMs: number;
  /** Null when jobs may name no files. */
  readonly bulkDir: string | null;
  readonly jobDays: number;
  readonly jobLimits: Readonly<Record<'bytesMax' | 'accountBytesMax' | 'errorBytesMax', number>>;
  readonly streamIdleMs: number;
  readonly streamResumeMs: number;
  readonly precisionMin: MinimumPrecision;
  readonly refuseUnruled: boolean;
  /** How a caller gets another plan. */
  readonly accountMessage: string;
  /** Null when none is configured; src/provider reads it. */
  readonly providerUrl: string | null;
  readonly providerTimeoutMs: number;
  /** The provider and the endpoint may be in a private network. */
  readonly allowPrivateNetwork: boolean;
  /** The next five are as given and null when unset; src/event reads them. */
  readonly webhookUrl: string | null;
  readonly webhookSecret: string | null;
  readonly smtpUrl: string | null;
  readonly mailFrom: string | null;
  readonly inviteUrl: string | null;
  readonly coreDumps: boolean;
  readonly logLevel: LogLevel;
}

export type Environment = Readonly<Record<string, string | undefined>>;

type SettingName = (typeof SETTINGS)[number]['name'];

/** The raw value of each setting, checked. Values are never repeated in the error: one is a key. */
function readSettings(environment: Environment): ReadonlyMap<SettingName, string> {
  const values = new Map<SettingName, string>();
  const problems: string[] = [];
  for (const setting of SETTINGS) {
    const given = environment[setting.name];
    const value = given === undefined || given === '' ? setting.default : given;
    const problem = CHECKS[setting.type](value, setting);
    if (problem !== null) problems.push(`${setting.name} ${problem}`);
    values.set(setting.name, value);
  }
  if (problems.length > 0) throw new Error(problems.join('; '));
  return values;
}

/**
 * Reads the configuration once; the result does not change afterwards.
 * @throws Error that names every setting with a bad value.
 */
export function loadConfig(environment: Environment = process.env): Config {
  const values = readSettings(environment);
  const text = (name: SettingName): string => values.get(name) ?? '';
  const logLevel = text('SITUS_LOG');
  const precisionMin = text('SITUS_PRECISION_MIN');
  return Object.freeze({
    host: text('HOST'),
    port: Number(text('PORT')),
    varDir: resolve(text('SITUS_VAR')),
    bootstrapKey: text('SITUS_BOOTSTRAP_KEY') || null,
    bootstrapRate: Number(text('SITUS_BOOTSTRAP_RATE')),
    kekFile: text('SITUS_KEK_FILE') === '' ? null : resolve(text('SITUS_KEK_FILE')),
    kek: text('SITUS_KEK') === '' ? null : secretBytes(text('SITUS_KEK')),
    kekPrevious: text('SITUS_KEK_PREVIOUS').split(',').filter((key) => key !== '')
      .map(secretBytes),
    baseUrl: text('SITUS_BASE_URL').replace(/\/+$/, '')
      || ownUrl(text('HOST'), Number(text('PORT'))),
    workers: Number(text('SITUS_WORKERS')),
    answerCacheBytes: Number(text('SITUS_ANSWER_CACHE_MIB')) * 1_048_576,
    bodyBytes: Number(text('SITUS_BODY_MEMORY_MIB')) * 1_048_576,
    bulkWorkers: Number(text('SITUS_BULK_WORKERS')),
    bulkRowsMax: Number(text('SITUS_BULK_ROWS_MAX')),
    bulkBytesMax: Number(text('SITUS_BULK_BYTES_MAX')),
    bulkSpoolBytesMax: Number(text('SITUS_BULK_SPOOL_BYTES_MAX')),
    bulkIdleMs: Number(text('SITUS_BULK_IDLE_SECONDS')) * 1000,
    bulkDir: text('SITUS_BULK_DIR') === '' ? null : resolve(text('SITUS_BULK_DIR')),
    jobDays: Number(text('SITUS_JOB_DAYS')),
    jobLimits: {
      bytesMax: Number(text('SITUS_JOB_BYTES_MAX')),
      accountBytesMax: Number(text('SITUS_JOB_ACCOUNT_BYTES_MAX')),
      errorBytesMax: Number(text('SITUS_JOB_ERROR_BYTES_MAX')),
    },
    streamIdleMs: Number(text('SITUS_STREAM_IDLE_SECONDS')) * 1000,
    streamResumeMs: Number(text('SITUS_STREAM_RESUME_SECONDS')) * 1000,
    precisionMin: isMinimumPrecision(precisionMin) ? precisionMin : 'city',
    refuseUnruled: text('SITUS_UNRULED') === 'refuse',
    accountMessage: text('SITUS_ACCOUNT_MESSAGE'),
    providerUrl: text('SITUS_PROVIDER_URL') || null,
    providerTimeoutMs: Number(text('SITUS_PROVIDER_TIMEOUT_MS')),
    allowPrivateNetwork: text('SITUS_ALLOW_PRIVATE_NETWORK') === '1',
    webhookUrl: text('SITUS_WEBHOOK_URL') || null,
    webhookSecret: text('SITUS_WEBHOOK_SECRET') || null,
    smtpUrl: text('SITUS_SMTP_URL') || null,
    mailFrom: text('SITUS_MAIL_FROM') || null,
    inviteUrl: text('SITUS_INVITE_URL') || null,
    coreDumps: text('SITUS_CORE_DUMPS') === '1',
    logLevel: isLogLevel(logLevel) ? logLevel : 'info',
  });
}

/** Largest request head in bytes. */
const HEAD_BYTES_MAX = 16_384;

/**
 * The native server reads its head limit from the environment when it is loaded, and its default of
 * 4 KiB holds or not depending on how the head was split into packets.
 */
export function setHeadLimit(): void {
  process.env['UWS_HTTP_MAX_HEADERS_SIZE'] ??= String(HEAD_BYTES_MAX);
}
