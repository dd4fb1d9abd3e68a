/**
 * Reads the addresses of places (SITUS_DATASETS) and of the broker of a fleet (SITUS_FLEET). What
 * is printed of an address contains no secret.
 */
import type { AwsSettings, Config } from '../config.js';
import type { Place } from './fleet-place.js';

const NAME = /^[A-Za-z0-9_-]{1,64}$/;
const S3_BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
const NATS_PORT = '4222';
const NATS_BUCKET = 'situs';
const REPLICAS_MAX = 5;
/**
 * Rows that take some tenths of a second of processor time, so that the time of a message does not
 * matter.
 */
const FILE_ROWS = 4_096;
const FILE_ROWS_MAX = 65_536;
/** Default size, in MiB, up to which files of jobs are kept at the broker. */
const KEPT_MIB = 256;
const KEPT_MIB_MAX = 65_536;
const MIB = 1_048_576;
const FILE_WAIT_SECONDS = 30;
const FILE_WAIT_SECONDS_MAX = 86_400;

/** A broker: its servers, the login, and the name that its buckets begin with. */
export interface NatsAddress {
  readonly kind: 'nats';
  readonly name: string;
  readonly servers: readonly string[];
  readonly secrets: { readonly user?: string; readonly pass?: string; readonly token?: string };
  readonly tls: boolean;
  /** File of credentials, or null. */
  readonly creds: string | null;
  readonly bucket: string;
  /** Copies that a cluster keeps of each bucket. */
  readonly replicas: number;
}

/** A bucket of an S3-compatible store, or a folder of a web server. */
interface HttpAddress {
  readonly kind: 's3' | 'web';
  readonly name: string;
  /** Without a slash at the end and without secrets. */
  readonly base: string;
  /** Value of the header field Authorization; "" for none. */
  readonly authorization: string;
}

type PlaceAddress = NatsAddress | HttpAddress;

/** The broker that carries files of rows, and how the sending node splits and awaits them. */
export interface FilesAddress extends NatsAddress {
  /** Rows that a node is given at a time. */
  readonly rows: number;
  /** How long there may be no answer before the sender asks whether any node is there. */
  readonly waitMs: number;
  /** Largest upload or result of a job that is kept at the broker; 0 to keep none. */
  readonly keptBytesMax: number;
}

/** Refuses an address in a sentence that begins with the setting's name. */
type Refuse = (what: string) => never;

const refusing =
  (setting: string): Refuse =>
  (what) => {
    throw new Error(`${setting} ${what}`);
  };

const refuse: Refuse = refusing('SITUS_DATASETS');

interface NatsText {
  readonly address: NatsAddress;
  /** Value of a parameter behind the question mark, other than `creds` and `replicas`. */
  readonly more: (name: string) => string | null;
}

/** @param names what may stand behind the question mark beside `creds` and `replicas` */
function natsAddress(text: string, refuse: Refuse, names: readonly string[] = []): NatsText {
  const found = /^(nats|tls):\/\/(?:([^@/]*)@)?([^@/?#]+)(?:\/([^?#]*))?(?:\?([^#]*))?$/.exec(text);
  if (found === null) return refuse('is nats://HOST:PORT/NAME');
  const [, scheme = '', login = '', hosts = '', path = '', query = ''] = found;
  const options = new URLSearchParams(query);
  const known = ['creds', 'replicas', ...names];
  const unknown = [...options.keys()].find((key) => !known.includes(key));
  if (unknown !== undefined) refuse(`knows no "${unknown}"; there are: ${known.join(', ')}`);
  const bucket = path === '' ? NATS_BUCKET : path;
  if (!NAME.test(bucket)) refuse('names a bucket of NATS, which is of letters, digits, _ and -');
  const replicas = Number(options.get('replicas') ?? '1');
  if (!Number.isInteger(replicas) || replicas < 1 || replicas > REPLICAS_MAX) {
    refuse(`has replicas from 1 to ${REPLICAS_MAX}`);
  }
  const servers = hosts
    .split(',')
    .map((host) => (/:\d+$/.test(host) ? host : `${host}:${NATS_PORT}`));
  const [user = '', pass] = login.split(':').map(decodeURIComponent);
  return {
    address: {
      kind: 'nats',
      name: `${scheme}://${servers.join(',')}/${bucket}`,
      servers,
      tls: scheme === 'tls',
      secrets: login === '' ? {} : pass === undefined ? { token: user } : { user, pass },
      creds: options.get('creds'),
      bucket,
      replicas,
    },
    more: (name) => options.get(name),
  };
}

/**
 * Reads the address of the broker that files of rows go over.
 * @throws Error that begins with the setting's name and repeats no secret.
 */
export function filesAddress(text: string, setting: string): FilesAddress {
  const refuse = refusing(setting);
  const { address, more } = natsAddress(text, refuse, ['rows', 'wait', 'kept']);
  const number = (name: string, otherwise: number, min: number, max: number): number => {
    const given = more(name) ?? String(otherwise);
    const value = Number(given);
    if (/^\d+$/.test(given) && value >= min && value <= max) return value;
    return refuse(`has ${name} from ${min} to ${max}`);
  };
  return {
    ...address,
    rows: number('rows', FILE_ROWS, 1, FILE_ROWS_MAX),
    waitMs: number('wait', FILE_WAIT_SECONDS, 1, FILE_WAIT_SECONDS_MAX) * 1_000,
    keptBytesMax: number('kept', KEPT_MIB, 0, KEPT_MIB_MAX) * MIB,
  };
}

/**
 * Reads "https://HOST/FOLDER"; login and password go into the header field, not into the address.
 */
function webAddress(text: string, allowPlain: boolean): HttpAddress {
  const url = new URL(text);
  if (url.search !== '' || url.hash !== '') refuse('is an address without a query');
  if (url.protocol === 'http:' && !allowPlain) {
    refuse('is an https address; http is for private networks: SITUS_ALLOW_PRIVATE_NETWORK=1');
  }
  const base = `${url.origin}${url.pathname}`.replace(/\/+$/, '');
  const { username, password } = url;
  const login = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return {
    kind: 'web',
    name: base,
    base,
    authorization:
      username === '' && password === '' ? '' : `Basic ${Buffer.from(login).toString('base64')}`,
  };
}

/**
 * With an endpoint of its own, the bucket is the first part of the path. Otherwise the bucket is
 * part of Amazon's host name.
 */
function s3Address(text: string, { endpoint, region }: AwsSettings): HttpAddress {
  const [, bucket = '', prefix = ''] = /^s3:\/\/([^/?#]+)(?:\/([^?#]*))?$/.exec(text) ?? [];
  if (!S3_BUCKET.test(bucket)) return refuse('is s3://BUCKET/FOLDER');
  if (prefix !== '' && !/^[\w./-]+$/.test(prefix)) {
    return refuse('names a folder, which is of letters, digits, _, -, . and /');
  }
  if (endpoint !== '' && !/^https?:\/\/[^\s?#@]+$/.test(endpoint)) {
    throw new Error('AWS_ENDPOINT_URL must be an http or https URL without query and password');
  }
  const top =
    endpoint === '' ? `https://${bucket}.s3.${region}.amazonaws.com` : `${endpoint}/${bucket}`;
  const name = `s3://${bucket}${prefix === '' ? '' : `/${prefix}`}`.replace(/\/+$/, '');
  return {
    kind: 's3',
    name: endpoint === '' ? name : `${name} at ${new URL(endpoint).host}`,
    base: `${top}/${prefix}`.replace(/\/+$/, ''),
    authorization: '',
  };
}

/** Reads an address. @throws Error that begins with the setting's name and repeats no secret. */
export function placeAddress(text: string, aws: AwsSettings, allowPlain: boolean): PlaceAddress {
  if (/^(?:nats|tls):\/\//.test(text)) return natsAddress(text, refuse).address;
  if (/^s3:\/\//.test(text)) return s3Address(text, aws);
  if (/^https?:\/\//.test(text) && URL.canParse(text)) return webAddress(text, allowPlain);
  return refuse('is an address that begins with nats://, tls://, s3:// or https://');
}

/** The settings that a place is opened by. They can be passed to another process. */
export type PlaceSettings = Pick<Config, 'datasets' | 'aws' | 'allowPrivateNetwork'>;

/**
 * Opens the place that the settings name; sends nothing yet.
 * @throws Error that names the setting.
 */
export async function openPlace({
  datasets,
  aws,
  allowPrivateNetwork,
}: PlaceSettings): Promise<Place> {
  const address = placeAddress(datasets, aws, allowPrivateNetwork);
  if (address.kind === 'nats') {
    return new (await import('./nats-place.js')).NatsPlace(address);
  }
  const { HttpPlace, s3Signer } = await import('./http-place.js');
  const { name, base, authorization } = address;
  if (address.kind === 's3') return new HttpPlace({ name, base, sign: s3Signer(aws) });
  return new HttpPlace({
    name,
    base,
    sign: ({ headers }) =>
      Promise.resolve(
        authorization === '' ? headers : { ...headers, Authorization: authorization },
      ),
  });
}
