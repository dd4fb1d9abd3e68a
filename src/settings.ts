/**
 * The table of settings: what the environment may decide. The documentation is generated from it,
 * and a name that is not in it is refused.
 */
import { TRANSPORT_CHOICES, type Setting } from './setting.js';

export const SETTINGS = [
  { name: 'HOST', type: 'text', default: '127.0.0.1', meaning: 'Address to listen on.' },
  {
    name: 'PORT', type: 'integer', default: '3000', min: 0, max: 65_535,
    meaning: 'TCP port to listen on; 0 takes a free one.',
  },
  {
    name: 'SITUS_LISTENERS', type: 'integer', default: '1', min: 1, max: 64,
    meaning: 'Servers that listen on HOST:PORT together; the processors are divided among them.',
  },
  {
    name: 'SITUS_SUPERVISED', type: 'integer', default: '0', min: 0, max: 1,
    meaning: 'With 1, one server has a supervisor too, which replaces it without a gap (SIGUSR2).',
  },
  {
    name: 'SITUS_LEAVE_SECONDS', type: 'integer', default: '60', min: 15, max: 86_400,
    meaning: 'How long a server that was replaced may finish what its connections have under way.',
  },
  {
    name: 'SITUS_VAR', type: 'path', default: './var',
    meaning: 'Folder of datasets and of the store; the only one written to.',
  },
  {
    name: 'SITUS_STORE', type: 'store', default: '',
    meaning: 'PostgreSQL that holds the store of several servers, as in '
      + '`postgres://USER:PASSWORD@HOST/DATABASE`; in SITUS_VAR if unset.',
  },
  {
    name: 'SITUS_REQUIRE_SIGNATURE', type: 'text', default: '',
    meaning: 'Public keys, or PEM files of them, between commas; datasets signed with none of them '
      + 'are not used.',
  },
  {
    name: 'SITUS_DATASETS', type: 'text', default: '',
    meaning: 'Place of a fleet\'s datasets, which this node follows: nats://, s3:// or https://; '
      + 'none if unset.',
  },
  {
    name: 'SITUS_FLEET', type: 'text', default: '',
    meaning: 'Broker that files of rows go over, nats://HOST:PORT/NAME: this node takes chunks of '
      + 'them there; none if unset.',
  },
  {
    name: 'SITUS_KEEP_DAYS', type: 'integer', default: '1460', min: 0, max: 36_500,
    meaning: 'Days that `situs dataset prune` keeps a dataset after it answered last.',
  },
  {
    name: 'SITUS_KEEP_DATASETS', type: 'integer', default: '3', min: 1, max: 10_000,
    meaning: 'Datasets that it keeps whatever their age: so many that answered last.',
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
    name: 'SITUS_LIMITS', type: 'text', default: '',
    meaning: 'Redis or Valkey with the rate windows of all nodes: redis://, rediss:// or unix://; '
      + 'each node has its own if unset.',
  },
  {
    name: 'SITUS_LIMITS_SHARE', type: 'integer', default: '50', min: 1, max: 100,
    meaning: 'Per cent of each rate that a node admits alone while that does not answer.',
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
    name: 'SITUS_PROVIDER_REQUIRED', type: 'integer', default: '0', min: 0, max: 1,
    meaning: 'With 1, the service is not ready while the compliance provider cannot be reached.',
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
    name: 'SITUS_DRAIN_SECONDS', type: 'integer', default: '0', min: 0, max: 3_600,
    meaning: 'How long a service that is told to stop goes on, unready, before it takes no more.',
  },
  {
    name: 'SITUS_TRANSPORT', type: 'choice', default: 'auto', choices: TRANSPORT_CHOICES,
    meaning: 'HTTP server: native, node (of Node.js, slower), or auto: native where it loads.',
  },
  {
    name: 'SITUS_TLS_CERT', type: 'path', default: '',
    meaning: 'File of the certificate, with its chain, in PEM; with it HTTPS alone is spoken.',
  },
  {
    name: 'SITUS_TLS_KEY', type: 'path', default: '',
    meaning: 'File of the key of that certificate.',
  },
  {
    name: 'SITUS_CORS_ORIGINS', type: 'text', default: '',
    meaning: 'Origins whose pages may read answers, with commas between, or *; none if unset.',
  },
  {
    name: 'SITUS_PROXIES', type: 'text', default: '',
    meaning: 'Addresses and networks of proxies whose X-Forwarded-For is taken, between commas.',
  },
  {
    name: 'SITUS_METRICS', type: 'text', default: '',
    meaning: 'Address of the listener of GET /metrics, as host:port; none if unset.',
  },
  {
    name: 'SITUS_REQUEST_LOG', type: 'text', default: '',
    meaning: 'File with a JSON line for each request, - for standard output; none if unset.',
  },
  {
    name: 'SITUS_REQUEST_LOG_EVERY', type: 'integer', default: '1', min: 1, max: 1_000_000,
    meaning: 'Of so many answered requests one is logged; refused ones (4xx, 5xx) all are.',
  },
  {
    name: 'SITUS_REQUEST_LOG_CLIENTS', type: 'integer', default: '0', min: 0, max: 1,
    meaning: 'With 1, lines have the address of the client.',
  },
  {
    name: 'SITUS_REQUEST_LOG_QUERIES', type: 'integer', default: '0', min: 0, max: 1,
    meaning: 'With 1, lines have the query, and so the addresses asked for; never the key.',
  },
  {
    name: 'SITUS_OTLP', type: 'url', default: '',
    meaning: 'Address of an OpenTelemetry collector that takes traces over HTTP; none if unset.',
  },
  {
    name: 'SITUS_OTLP_EVERY', type: 'integer', default: '100', min: 1, max: 1_000_000,
    meaning: 'Of so many requests that are part of no trace one has a span.',
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
