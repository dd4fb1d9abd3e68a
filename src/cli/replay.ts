/**
 * `situs replay RECEIPT`: answers an old request again, and tells whether the answer is the same.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { optionBits, optionsOfQuery, PRODUCT_BIT, SAME_IDS_BIT } from '../api/cart/options.js';
import { openWire } from '../api/lookup/context.js';
import { packageVersion } from '../base/process.js';
import { isProblem } from '../base/problem.js';
import { loadConfig } from '../config.js';
import { openDataset } from '../dataset/open.js';
import { releasesDir } from '../dataset/release.js';
import { Engine } from '../engine/engine.js';
import { readAnswers, RequestFrame } from '../pool/frame.js';
import { GRANT_PRODUCT, type RequestFields } from '../pool/types.js';
import { parseReceipt, type Receipt, sha256Of } from '../wire/receipt.js';
import { API_VERSIONS } from '../wire/tree.js';
import { answerFrame } from '../worker.js';
import { progress } from './command-line.js';
import { soundRelease } from './sound-release.js';

const STDIN = 0;
/** The exit code where the answer differs. */
const DIFFERS = 3;

/** A request in the form that a worker takes. */
interface Question {
  readonly fields: RequestFields;
  readonly payload: string | Uint8Array;
}

/** Paths of lookups, with their version. */
const LOOKUP = /^GET \/request\/v(\d\d)\/?$/;
const ENDPOINTS = new Map([
  ['POST /merchant/cart/calculate', 'merchant'],
  ['POST /calculate/cart', 'calculation'],
] as const);

/** The body of the request, checked against the checksum in the receipt. */
function bodyOf({ bodySha256 }: Receipt, file: string | undefined): Uint8Array {
  if (file === undefined) {
    throw new Error('the receipt is of a request with a body: --body FILE names it');
  }
  const body = readFileSync(file);
  if (sha256Of(body) === bodySha256) return body;
  throw new Error(`${file} is not the body that the receipt is of: its SHA-256 is another`);
}

function questionOf(receipt: Receipt, bodyFile: string | undefined): Question {
  const [target = '', ...rest] = receipt.request.split('?');
  const query = rest.join('?');
  const asked = Number(LOOKUP.exec(target)?.[1]);
  const version = API_VERSIONS.find((each) => each === asked);
  if (version !== undefined) {
    return { fields: { kind: 'lookup', version, grants: receipt.grants }, payload: query };
  }
  for (const [operation, endpoint] of ENDPOINTS) {
    if (operation !== target.replace(/\/$/, '')) continue;
    const options = optionsOfQuery(query);
    if (isProblem(options)) throw new Error(`the receipt's request is broken: ${options.detail}`);
    const codes = (receipt.grants & GRANT_PRODUCT) === 0 ? 0 : PRODUCT_BIT;
    const bits = optionBits(options) | SAME_IDS_BIT | codes;
    const fields = { kind: 'cart', endpoint, optionBits: bits } as const;
    return { fields, payload: bodyOf(receipt, bodyFile) };
  }
  throw new Error(`the receipt is of ${target}, which cannot be answered again`);
}

/** Answers a request from a release, at the moment and with the settings of the receipt. */
function answered(
  dir: string,
  { fields, payload }: Question,
  receipt: Receipt,
): { readonly status: number; readonly body: Uint8Array } {
  const engine = new Engine(openDataset(dir));
  try {
    const frame = new RequestFrame();
    frame.add(fields, payload);
    let answer: { readonly status: number; readonly body: Uint8Array } = {
      status: 0,
      body: new Uint8Array(0),
    };
    const { baseUrl, precisionMin, refuseUnruled } = receipt;
    const context = openWire({ baseUrl, precisionMin, refuseUnruled });
    readAnswers(
      answerFrame(engine, frame.bytes(), receipt.atMs, context),
      1,
      (_, { status, body }) => {
        answer = { status, body: Buffer.from(body) };
      },
    );
    return answer;
  } finally {
    engine.close();
  }
}

/** Runs `situs replay FILE`; 0 where the answer is that of the receipt, 3 where it differs. */
export async function replayCommand(
  file: string,
  { body }: { readonly body?: string },
): Promise<number> {
  const { varDir } = loadConfig();
  const receipt = parseReceipt(readFileSync(file === '-' ? STDIN : file, 'utf8'));
  const { dataset, engine } = receipt;
  const question = questionOf(receipt, body);
  if (!existsSync(join(releasesDir(varDir), dataset))) {
    throw new Error(
      `the dataset ${dataset} is not kept in ${varDir}; ` +
        'npx situs dataset unpack takes it out of its bundle',
    );
  }
  const answer = answered(await soundRelease(varDir, dataset), question, receipt);
  process.stdout.write(answer.body);
  const sum = sha256Of(answer.body);
  if (sum === receipt.sha256 && answer.status === receipt.status) {
    progress(`the answer is the one that was given, byte for byte (SHA-256 ${sum})`);
    return 0;
  }
  const here = `situs ${packageVersion()}`;
  const versions = engine === here ? '' : `; it was given by ${engine}, this is ${here}`;
  progress(
    `the answer is another than the one that was given: status ${answer.status}, SHA-256 ` +
      `${sum}; not ${receipt.status}, ${receipt.sha256}${versions}`,
  );
  return DIFFERS;
}
