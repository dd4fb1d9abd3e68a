/** The image's recipe, by the rules that hadolint and others hold such files against. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { packageRoot } from '../../src/ingest/source-files.js';
import {
  environmentOf,
  execWords,
  readStages,
  type Stage,
  type Step,
} from '../support/packaging-files.js';
import { selfSigned } from '../support/simulated-provider.js';
import { skipForWantOf } from '../support/wanting.js';

const ROOT = packageRoot();
const STAGES = readStages(join(ROOT, 'Dockerfile'));
const LAST = STAGES.at(-1)!;
const PINNED = /^node:(\d+)\.\d+\.\d+-[a-z]+-slim$/;
const NODE_MAJORS = ['20', '22', '24'];
const SECRET = /KEY|SECRET|PASSWORD|TOKEN|KEK/;

interface Service {
  readonly image: string;
  readonly read_only: boolean;
  readonly cap_drop: readonly string[];
  readonly security_opt: readonly string[];
  readonly volumes: readonly string[];
  readonly ports: readonly string[];
  readonly stop_grace_period: string;
}

function steps(stage: Stage, keyword: string): readonly Step[] {
  return stage.steps.filter((step) => step.keyword === keyword);
}

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

test('every stage begins with the same exact version of a Node that is supported', () => {
  assert.equal(STAGES.length, 2);
  const [first] = STAGES;
  assert.equal(LAST.image, first!.image);
  const [, major] = PINNED.exec(LAST.image) ?? [];
  assert.ok(NODE_MAJORS.includes(major ?? ''), LAST.image);
});

test('every path that is copied exists, is let through, and is there in the stage named', () => {
  const through = read('.dockerignore')
    .split('\n')
    .filter((line) => line.startsWith('!'));
  for (const stage of STAGES) {
    assert.equal(steps(stage, 'ADD').length, 0, 'COPY is enough');
    for (const { words, from } of steps(stage, 'COPY')) {
      for (const path of words.slice(0, -1)) {
        if (from === null)
          assert.ok(through.includes(`!${path}`), `.dockerignore keeps ${path} out`);
        const source = from === null ? path : path.replace(/^\/build\//, '');
        assert.ok(from === null || STAGES.some(({ name }) => name === from), from ?? '');
        assert.ok(existsSync(join(ROOT, source)), source);
      }
    }
  }
  assert.match(read('.dockerignore'), /^\*$/m);
});

test('a change of a source does not install modules again', () => {
  const order = STAGES[0]!.steps.map(({ keyword, text }) => `${keyword} ${text}`);
  const at = (text: string): number => order.findIndex((line) => line.includes(text));
  assert.ok(at('COPY package.json package-lock.json') < at('RUN npm ci'));
  for (const folder of ['src', 'workers', 'scripts', 'datasets', 'tsconfig.json']) {
    assert.ok(at('RUN npm ci') < at(`COPY ${folder} `), folder);
  }
});

test('it runs as somebody without rights, who starts one program and is told to stop', () => {
  const users = steps(LAST, 'USER');
  assert.equal(users.length, 1);
  assert.match(users[0]!.text, /^[1-9]\d*:[1-9]\d*$/);
  const last = LAST.steps.findIndex(({ keyword }) => keyword === 'USER');
  assert.ok(LAST.steps.slice(last).every(({ keyword }) => keyword !== 'RUN' && keyword !== 'COPY'));
  assert.deepEqual(
    steps(LAST, 'CMD').map(({ text }) => execWords(text)),
    [['node', '--enable-source-maps', 'dist/src/main.js']],
  );
  assert.equal(steps(LAST, 'STOPSIGNAL')[0]?.text, 'SIGTERM');
  const [check] = steps(LAST, 'HEALTHCHECK');
  assert.equal(execWords(check?.text ?? '')?.[0], 'node');
  for (const { text } of steps(LAST, 'WORKDIR')) assert.match(text, /^\//);
});

test('it is healthy over HTTPS too, by a certificate for another name', async (context) => {
  const made = selfSigned();
  if (made === null) return skipForWantOf(context, 'there is no openssl');
  let status = 200;
  const server = createServer(made, (request, response) => {
    response.statusCode = request.url === '/system/ready' ? status : 404;
    response.end('{}');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  context.after(() => server.close());
  const [command, ...args] = execWords(steps(LAST, 'HEALTHCHECK')[0]!.text)!;
  const { port } = server.address() as AddressInfo;
  for (status of [200, 503]) {
    const env = { PATH: process.env['PATH'], PORT: String(port), SITUS_TLS_CERT: '/run/cert.pem' };
    const [code] = (await once(spawn(command!, args, { env, stdio: 'ignore' }), 'exit')) as [
      number,
    ];
    assert.equal(code, status === 200 ? 0 : 1, String(status));
  }
});

test('what it sets are settings that there are, and no secret', () => {
  const documented = read('docs/operating.md');
  const environment = environmentOf(LAST);
  for (const name of Object.keys(environment)) {
    assert.ok(name === 'NODE_ENV' || documented.includes(`| \`${name}\` |`), name);
    assert.doesNotMatch(name, SECRET);
  }
  const volume = environment['SITUS_VAR'];
  assert.deepEqual(execWords(steps(LAST, 'VOLUME')[0]?.text ?? ''), [volume]);
  assert.equal(steps(LAST, 'EXPOSE')[0]?.text, environment['PORT']);
  for (const stage of STAGES) assert.equal(steps(stage, 'ARG').length, 0);
});

test('compose.yaml runs it with nothing to write but its volume', () => {
  const { services, volumes } = parse(read('compose.yaml')) as {
    readonly services: Readonly<Record<string, Service>>;
    readonly volumes: object;
  };
  const { version } = JSON.parse(read('package.json')) as { readonly version: string };
  const service = services['situs']!;
  assert.equal(service.image, `situs:${version}`);
  assert.equal(service.read_only, true);
  assert.deepEqual(service.cap_drop, ['ALL']);
  assert.ok(service.security_opt.includes('no-new-privileges:true'));
  const { SITUS_VAR, PORT, SITUS_DRAIN_SECONDS } = environmentOf(LAST);
  assert.deepEqual(service.volumes, [`situs:${SITUS_VAR}`]);
  assert.deepEqual(Object.keys(volumes), ['situs']);
  assert.ok(
    service.ports.every((each) => each.startsWith('127.0.0.1:') && each.endsWith(`:${PORT}`)),
  );
  assert.ok(parseInt(service.stop_grace_period, 10) >= Number(SITUS_DRAIN_SECONDS) + 10);
});
