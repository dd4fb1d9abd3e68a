/**
 * The configuration from the environment, by the table of settings; only this reads process.env.
 */
import { resolve } from 'node:path';
import {
  CHECKS,
  isLogLevel,
  isMinimumPrecision,
  jointProblems,
  type LogLevel,
  type MinimumPrecision,
  ownUrl,
  secretBytes,
  type SettingsAlone,
  transportChoice,
  type TransportChoice,
  unknownSettings,
  withoutUnknown,
} from './setting.js';
import { SETTINGS } from './settings.js';

export { SETTINGS } from './settings.js';
export {
  KEY_CHARS_MAX,
  KEY_CHARS_MIN,
  localUrl,
  MINIMUM_PRECISIONS,
  type LogLevel,
  type MinimumPrecision,
  type TransportChoice,
} from './setting.js';

/** Which requests are logged, and how. */
export interface RequestLogConfig {
  /** Path of the file, "-" for standard output; null when nothing is logged. */
  readonly path: string | null;
  /** One in so many answered requests is logged. */
  readonly every: number;
  readonly clients: boolean;
  readonly queries: boolean;
}

/** Where traces are sent. */
export interface TraceConfig {
  /** Address of a collector; empty for no traces. */
  readonly url: string;
  /** One in so many requests that belong to no trace has a span. */
  readonly every: number;
}

/** Credentials for an S3-compatible store, in the variables that all tools for such stores read. */
export interface AwsSettings {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Empty for a key that does not expire. */
  readonly sessionToken: string;
  readonly region: string;
  /** Address of the store without a slash at the end; empty for Amazon's own. */
  readonly endpoint: string;
}

export interface Config {
  readonly host: string;
  readonly port: number;
  /** How many servers listen on the port. */
  readonly listeners: number;
  /** Whether a single server has a supervisor too. */
  readonly supervised: boolean;
  /** How long a replaced server may go on. */
  readonly leaveMs: number;
  readonly varDir: string;
  /** Address of the database with the store; null where the store is in the folder. */
  readonly storeUrl: string | null;
  /** Keys or files, read by src/dataset; empty where no signature is required. */
  readonly requireSignature: readonly string[];
  /** Place of a fleet's datasets, read by src/distribution; empty for none. */
  readonly datasets: string;
  /** Broker for files of rows, read by src/distribution; empty for none. */
  readonly fleet: string;
  readonly aws: AwsSettings;
  /** Which datasets `situs dataset prune` keeps. */
  readonly keep: { readonly days: number; readonly count: number };
  /** Null when the first key is to be random. */
  readonly bootstrapKey: string | null;
  readonly bootstrapRate: number;
  /** Null for a file beside the store. */
  readonly kekFile: string | null;
  /** 32 bytes; null when keys come from the file. */
  readonly kek: Uint8Array | null;
  readonly kekPrevious: readonly Uint8Array[];
  /** Without a slash at the end. Unset: the server's own address, empty if that is not usable. */
  readonly baseUrl: string;
  /** Zero chooses by the number of processors. */
  readonly workers: number;
  readonly answerCacheBytes: number;
  /** Memory for request bodies under way. */
  readonly bodyBytes: number;
  /** Zero means one for each processor. */
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
  /** `url` is read by src/limit, and may contain a password; empty when unset. */
  readonly limits: { readonly url: string; readonly sharePercent: number };
  /** Tells callers how to get another plan. */
  readonly accountMessage: string;
  /** Read by src/provider; null when no provider is configured. */
  readonly providerUrl: string | null;
  readonly providerTimeoutMs: number;
  readonly providerRequired: boolean;
  /** Whether the provider and the webhook's endpoint may be in a private network. */
  readonly allowPrivateNetwork: boolean;
  /** The next five are read by src/event; null when unset. */
  readonly webhookUrl: string | null;
  readonly webhookSecret: string | null;
  readonly smtpUrl: string | null;
  readonly mailFrom: string | null;
  readonly inviteUrl: string | null;
  /** Time from the order to stop until no more requests are accepted. */
  readonly drainMs: number;
  /** The next three are read by src/http and src/monitor; empty when unset. */
  readonly corsOrigins: string;
  readonly proxies: string;
  readonly metrics: string;
  readonly requestLog: RequestLogConfig;
  readonly traces: TraceConfig;
  /** Null for plain HTTP. */
  readonly tls: { readonly cert: string; readonly key: string } | null;
  /** Which HTTP server is used; `auto` is the native one where it loads. */
  readonly transport: TransportChoice;
  readonly coreDumps: boolean;
  readonly logLevel: LogLevel;
}

export type Environment = Readonly<Record<string, string | undefined>>;

type SettingName = (typeof SETTINGS)[number]['name'];
type Text = (name: SettingName) => string;

/** The checked text of each setting. An error repeats no values, because one is a key. */
function readSettings(environment: Environment): ReadonlyMap<SettingName, string> {
  const values = new Map<SettingName, string>();
  const problems = [...unknownSettings(environment, SETTINGS).values()];
  for (const setting of SETTINGS) {
    const given = environment[setting.name];
    const value = given === undefined || given === '' ? setting.default : given;
    const problem = CHECKS[setting.type](value, setting);
    if (problem !== null) problems.push(`${setting.name} ${problem}`);
    values.set(setting.name, value);
  }
  problems.push(...jointProblems(values));
  if (problems.length > 0) throw new Error(problems.join('; '));
  return values;
}

function requestLogOf(text: Text): RequestLogConfig {
  return {
    path: text('SITUS_REQUEST_LOG') || null,
    every: Number(text('SITUS_REQUEST_LOG_EVERY')),
    clients: text('SITUS_REQUEST_LOG_CLIENTS') === '1',
    queries: text('SITUS_REQUEST_LOG_QUERIES') === '1',
  };
}

function tlsOf(text: Text): Config['tls'] {
  const [cert, key] = [text('SITUS_TLS_CERT'), text('SITUS_TLS_KEY')];
  return cert === '' ? null : { cert: resolve(cert), key: resolve(key) };
}

function listenersOf(text: Text): Pick<Config, 'listeners' | 'supervised' | 'leaveMs'> {
  return {
    listeners: Number(text('SITUS_LISTENERS')),
    supervised: text('SITUS_SUPERVISED') === '1',
    leaveMs: Number(text('SITUS_LEAVE_SECONDS')) * 1000,
  };
}

/** The parts between commas. */
function listed(text: string): readonly string[] {
  return text.split(',').filter((each) => each !== '');
}

function kekOf(text: Text): Pick<Config, 'kekFile' | 'kek' | 'kekPrevious'> {
  return {
    kekFile: text('SITUS_KEK_FILE') === '' ? null : resolve(text('SITUS_KEK_FILE')),
    kek: text('SITUS_KEK') === '' ? null : secretBytes(text('SITUS_KEK')),
    kekPrevious: listed(text('SITUS_KEK_PREVIOUS')).map(secretBytes),
  };
}

function jobLimitsOf(text: Text): Config['jobLimits'] {
  return {
    bytesMax: Number(text('SITUS_JOB_BYTES_MAX')),
    accountBytesMax: Number(text('SITUS_JOB_ACCOUNT_BYTES_MAX')),
    errorBytesMax: Number(text('SITUS_JOB_ERROR_BYTES_MAX')),
  };
}

function awsOf(environment: Environment): AwsSettings {
  const read = (name: string): string => environment[name] ?? '';
  return {
    accessKeyId: read('AWS_ACCESS_KEY_ID'),
    secretAccessKey: read('AWS_SECRET_ACCESS_KEY'),
    sessionToken: read('AWS_SESSION_TOKEN'),
    region: read('AWS_REGION') || read('AWS_DEFAULT_REGION') || 'us-east-1',
    endpoint: (read('AWS_ENDPOINT_URL_S3') || read('AWS_ENDPOINT_URL')).replace(/\/+$/, ''),
  };
}

/** The settings without unknown names, and a sentence for each unknown name. */
export function settingsAlone(environment: Environment = process.env): SettingsAlone {
  return withoutUnknown(environment, SETTINGS);
}

/**
 * Reads the configuration once; the result does not change afterwards.
 * @throws Error that names every setting with an invalid value, and every unknown setting.
 */
export function loadConfig(environment: Environment = process.env): Config {
  const values = readSettings(environment);
  const text: Text = (name) => values.get(name) ?? '';
  const logLevel = text('SITUS_LOG');
  const precisionMin = text('SITUS_PRECISION_MIN');
  return Object.freeze({
    host: text('HOST'),
    port: Number(text('PORT')),
    ...listenersOf(text),
    varDir: resolve(text('SITUS_VAR')),
    storeUrl: text('SITUS_STORE') || null,
    requireSignature: listed(text('SITUS_REQUIRE_SIGNATURE')),
    datasets: text('SITUS_DATASETS'),
    fleet: text('SITUS_FLEET'),
    aws: awsOf(environment),
    keep: { days: Number(text('SITUS_KEEP_DAYS')), count: Number(text('SITUS_KEEP_DATASETS')) },
    bootstrapKey: text('SITUS_BOOTSTRAP_KEY') || null,
    bootstrapRate: Number(text('SITUS_BOOTSTRAP_RATE')),
    ...kekOf(text),
    baseUrl:
      text('SITUS_BASE_URL').replace(/\/+$/, '') ||
      ownUrl(text('HOST'), Number(text('PORT')), text('SITUS_TLS_CERT') !== ''),
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
    jobLimits: jobLimitsOf(text),
    streamIdleMs: Number(text('SITUS_STREAM_IDLE_SECONDS')) * 1000,
    streamResumeMs: Number(text('SITUS_STREAM_RESUME_SECONDS')) * 1000,
    precisionMin: isMinimumPrecision(precisionMin) ? precisionMin : 'city',
    refuseUnruled: text('SITUS_UNRULED') === 'refuse',
    limits: { url: text('SITUS_LIMITS'), sharePercent: Number(text('SITUS_LIMITS_SHARE')) },
    accountMessage: text('SITUS_ACCOUNT_MESSAGE'),
    providerUrl: text('SITUS_PROVIDER_URL') || null,
    providerTimeoutMs: Number(text('SITUS_PROVIDER_TIMEOUT_MS')),
    providerRequired: text('SITUS_PROVIDER_REQUIRED') === '1',
    allowPrivateNetwork: text('SITUS_ALLOW_PRIVATE_NETWORK') === '1',
    webhookUrl: text('SITUS_WEBHOOK_URL') || null,
    webhookSecret: text('SITUS_WEBHOOK_SECRET') || null,
    smtpUrl: text('SITUS_SMTP_URL') || null,
    mailFrom: text('SITUS_MAIL_FROM') || null,
    inviteUrl: text('SITUS_INVITE_URL') || null,
    drainMs: Number(text('SITUS_DRAIN_SECONDS')) * 1000,
    corsOrigins: text('SITUS_CORS_ORIGINS'),
    proxies: text('SITUS_PROXIES'),
    metrics: text('SITUS_METRICS'),
    requestLog: requestLogOf(text),
    traces: { url: text('SITUS_OTLP'), every: Number(text('SITUS_OTLP_EVERY')) },
    tls: tlsOf(text),
    transport: transportChoice(text('SITUS_TRANSPORT')),
    coreDumps: text('SITUS_CORE_DUMPS') === '1',
    logLevel: isLogLevel(logLevel) ? logLevel : 'info',
  });
}

/** Longest request head in bytes. */
export const HEAD_BYTES_MAX = 16_384;

/**
 * Sets the limit that the native server reads from the environment when it is loaded. Its default
 * of 4 KiB is applied or not depending on how the head was split into packets.
 */
export function setHeadLimit(): void {
  process.env['UWS_HTTP_MAX_HEADERS_SIZE'] ??= String(HEAD_BYTES_MAX);
}
