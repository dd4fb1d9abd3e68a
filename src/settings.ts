/**
 * The table of settings that the environment may contain. The documentation is generated from it,
 * and other names that look like settings are refused.
 */
import { TRANSPORT_CHOICES, type Setting } from './setting.js';

type Plain = 'text' | 'path' | 'url';

/** A setting whose text needs no checks beyond those of its type. */
function plain<T extends Plain>(type: T) {
  return <const N extends string>(name: N, unset: string, meaning: string) =>
    ({ name, type, default: unset, meaning }) as const;
}

const [text, path, url] = [plain('text'), plain('path'), plain('url')];

/** A whole number within bounds. */
function whole<const N extends string>(
  name: N,
  unset: number,
  min: number,
  max: number,
  meaning: string,
) {
  const most = max === Infinity ? {} : { max };
  return { name, type: 'integer', default: String(unset), min, ...most, meaning } as const;
}

/** A setting that is off unless it is 1. */
const on = <const N extends string>(name: N, meaning: string) => whole(name, 0, 0, 1, meaning);

// biome-ignore format: a setting a row, what it is called and may be in front of what it means
export const SETTINGS = [
  text('HOST', '127.0.0.1', 'Address to listen on.'),
  whole('PORT', 3_000, 0, 65_535, 'TCP port to listen on; 0 takes a free one.'),
  whole('SITUS_LISTENERS', 1, 1, 64,
    'Servers that listen on HOST:PORT together; the processors are divided among them.'),
  on('SITUS_SUPERVISED',
    'With 1, one server has a supervisor too, which replaces it without a gap (SIGUSR2).'),
  whole('SITUS_LEAVE_SECONDS', 60, 15, 86_400,
    'How long a server that was replaced may finish what its connections have under way.'),
  path('SITUS_VAR', './var', 'Folder of datasets and of the store; the only one written to.'),
  {
    name: 'SITUS_STORE', type: 'store', default: '',
    meaning: 'PostgreSQL that holds the store of several servers, as in '
      + '`postgres://USER:PASSWORD@HOST/DATABASE`; in SITUS_VAR if unset.',
  },
  text('SITUS_REQUIRE_SIGNATURE', '',
    'Public keys, or PEM files of them, between commas; datasets signed with none of them '
      + 'are not used.'),
  text('SITUS_DATASETS', '',
    'Place of a fleet\'s datasets, which this node follows: nats://, s3:// or https://; none '
      + 'if unset.'),
  text('SITUS_FLEET', '',
    'Broker that files of rows go over, nats://HOST:PORT/NAME: this node takes chunks of '
      + 'them there; none if unset.'),
  whole('SITUS_KEEP_DAYS', 1_460, 0, 36_500,
    'Days that `situs dataset prune` keeps a dataset after it answered last.'),
  whole('SITUS_KEEP_DATASETS', 3, 1, 10_000,
    'Datasets that it keeps whatever their age: so many that answered last.'),
  {
    name: 'SITUS_BOOTSTRAP_KEY', type: 'key', default: '',
    meaning: 'API key made when the store is empty. Without it a random one is printed once.',
  },
  whole('SITUS_BOOTSTRAP_RATE', 10_000, 1, 100_000_000, 'Requests a minute of that first key.'),
  path('SITUS_KEK_FILE', '',
    'File of the keys that seal secrets, made when missing; `kek` in SITUS_VAR if unset.'),
  {
    name: 'SITUS_KEK', type: 'secret', default: '',
    meaning: 'The key that seals secrets, 32 bytes in base64; the file is then not looked at.',
  },
  {
    name: 'SITUS_KEK_PREVIOUS', type: 'secrets', default: '',
    meaning: 'Keys before SITUS_KEK, between commas, while a rotation is under way.',
  },
  url('SITUS_BASE_URL', '', 'Public address of the service, put before links in answers.'),
  whole('SITUS_WORKERS', 0, 0, 256,
    'Worker threads that answer lookups; 0 chooses by the number of processors.'),
  whole('SITUS_ANSWER_CACHE_MIB', 96, 0, 65_536,
    'Memory for answers to lookups that are asked again, in MiB; 0 keeps none.'),
  whole('SITUS_BODY_MEMORY_MIB', 256, 16, 65_536,
    'Memory for bodies of requests under way, in MiB; what does not fit is refused, 503.'),
  whole('SITUS_BULK_WORKERS', 0, 0, 256,
    'Worker threads of bulk files, of lower priority; 0 is one for each processor.'),
  whole('SITUS_BULK_ROWS_MAX', 10_000_000, 1, 4_000_000_000, 'Rows of one bulk file.'),
  whole('SITUS_BULK_BYTES_MAX', 8_589_934_592, 1024, Infinity, 'Bytes of one bulk file, unpacked.'),
  whole('SITUS_BULK_SPOOL_BYTES_MAX', 2_147_483_648, 0, Infinity,
    'Disk below SITUS_VAR for bulk output that waits for its end (strict, spool); a quarter '
      + 'of it for one account.'),
  whole('SITUS_BULK_IDLE_SECONDS', 60, 1, 86_400,
    'How long the client of a bulk file may send and take nothing.'),
  whole('SITUS_STREAM_IDLE_SECONDS', 600, 1, 86_400,
    'How long the client of a stream of messages may send and take nothing.'),
  whole('SITUS_STREAM_RESUME_SECONDS', 120, 1, 3_600,
    'How long a stream that lost its connection may be resumed.'),
  path('SITUS_BULK_DIR', '',
    'Folder with one of each account of files that its bulk jobs may name; none if unset.'),
  whole('SITUS_JOB_DAYS', 3, 1, 3650, 'Days a bulk job and its result are kept after its end.'),
  whole('SITUS_JOB_BYTES_MAX', 21_474_836_480, 0, Infinity,
    'Disk below SITUS_VAR for the uploads and results of all bulk jobs.'),
  whole('SITUS_JOB_ACCOUNT_BYTES_MAX', 10_737_418_240, 0, Infinity,
    'How much of that disk the jobs of one account may take.'),
  whole('SITUS_JOB_ERROR_BYTES_MAX', 134_217_728, 0, Infinity,
    'Bytes of refused rows in all results of one account.'),
  {
    name: 'SITUS_PRECISION_MIN', type: 'precision', default: 'city',
    meaning: 'Weakest location still answered: point, range, zip9, street, polygon, postal or '
      + 'city.',
  },
  {
    name: 'SITUS_UNRULED', type: 'choice', default: 'tell', choices: ['tell', 'refuse'],
    meaning: 'Product codes without a rule: taxed as general goods and told, or refused.',
  },
  text('SITUS_LIMITS', '',
    'Redis or Valkey with the rate windows of all nodes: redis://, rediss:// or unix://; '
      + 'each node has its own if unset.'),
  whole('SITUS_LIMITS_SHARE', 50, 1, 100,
    'Per cent of each rate that a node admits alone while that does not answer.'),
  text('SITUS_ACCOUNT_MESSAGE',
    'To change the plan or its limits, ask the operator of this service.',
    'Member message of account metrics: how to change a plan.'),
  url('SITUS_PROVIDER_URL', '',
    'Address of the compliance provider. Without it its operations are answered 503.'),
  whole('SITUS_PROVIDER_TIMEOUT_MS', 20_000, 100, 120_000,
    'Longest time the provider may take to answer; then the caller gets 504.'),
  on('SITUS_PROVIDER_REQUIRED',
    'With 1, the service is not ready while the compliance provider cannot be reached.'),
  on('SITUS_ALLOW_PRIVATE_NETWORK',
    'With 1, configured addresses may be in private networks, and http instead of https.'),
  text('SITUS_WEBHOOK_URL', '', 'Where events are sent. Without it there are none.'),
  text('SITUS_WEBHOOK_SECRET', '',
    'Secret that signs events; during a rotation the new one, a comma, the old one.'),
  text('SITUS_SMTP_URL', '',
    'Mail server, smtp://user:password@host:port or smtps. Without it mails wait.'),
  text('SITUS_MAIL_FROM', '',
    'Sender of mails: an address, or a name and an address in angle brackets.'),
  text('SITUS_INVITE_URL', '',
    'Page on which an invited merchant sets up its account; put into invitations.'),
  whole('SITUS_DRAIN_SECONDS', 0, 0, 3_600,
    'How long a service that is told to stop goes on, unready, before it takes no more.'),
  {
    name: 'SITUS_TRANSPORT', type: 'choice', default: 'auto', choices: TRANSPORT_CHOICES,
    meaning: 'HTTP server: native, node (of Node.js, slower), or auto: native where it loads.',
  },
  path('SITUS_TLS_CERT', '',
    'File of the certificate, with its chain, in PEM; with it HTTPS alone is spoken.'),
  path('SITUS_TLS_KEY', '', 'File of the key of that certificate.'),
  text('SITUS_CORS_ORIGINS', '',
    'Origins whose pages may read answers, with commas between, or *; none if unset.'),
  text('SITUS_PROXIES', '',
    'Addresses and networks of proxies whose X-Forwarded-For is taken, between commas.'),
  text('SITUS_METRICS', '',
    'Address of the listener of GET /metrics, as host:port; none if unset.'),
  text('SITUS_REQUEST_LOG', '',
    'File with a JSON line for each request, - for standard output; none if unset.'),
  whole('SITUS_REQUEST_LOG_EVERY', 1, 1, 1_000_000,
    'Of so many answered requests one is logged; refused ones (4xx, 5xx) all are.'),
  on('SITUS_REQUEST_LOG_CLIENTS', 'With 1, lines have the address of the client.'),
  on('SITUS_REQUEST_LOG_QUERIES',
    'With 1, lines have the query, and so the addresses asked for; never the key.'),
  url('SITUS_OTLP', '',
    'Address of an OpenTelemetry collector that takes traces over HTTP; none if unset.'),
  whole('SITUS_OTLP_EVERY', 100, 1, 1_000_000,
    'Of so many requests that are part of no trace one has a span.'),
  on('SITUS_CORE_DUMPS',
    'With 1, core dumps hold the memory of the process, and the secrets in it.'),
  {
    name: 'SITUS_LOG', type: 'level', default: 'info',
    meaning: 'Least important lines logged to standard error: debug, info, warn or error.',
  },
] as const satisfies readonly Setting[];
