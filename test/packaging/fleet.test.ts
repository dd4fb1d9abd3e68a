/** The compose file of a fleet and its Kubernetes manifests, held against schemas, settings and rules. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse, parseAllDocuments } from 'yaml';
import { loadConfig, SETTINGS } from '../../src/config.js';
import { placeAddress } from '../../src/distribution/address.js';
import { TrustedProxies } from '../../src/http/proxies.js';
import { packageRoot } from '../../src/ingest/source-files.js';
import { metricsAddress } from '../../src/monitor/listener.js';
import { DRAIN_MS_MAX } from '../../src/app.js';
import { type Manifest, manifestProblems } from '../support/packaging-files.js';

const PACKAGING = join(packageRoot(), 'packaging');
const KUBERNETES = join(PACKAGING, 'kubernetes');
const PINNED = /^[\w./-]+:\d[\w.-]*$/;
const GUIDE = readFileSync(join(packageRoot(), 'docs', 'fleet.md'), 'utf8');

type Settings = Readonly<Record<string, string>>;

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
  readonly periodSeconds: number;
  readonly failureThreshold: number;
}

interface Container {
  readonly image: string;
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly envFrom: readonly {
    readonly configMapRef?: { name: string };
    readonly secretRef?: { name: string };
  }[];
  readonly startupProbe: Probe;
  readonly livenessProbe: Probe;
  readonly readinessProbe: Probe;
  readonly resources: { readonly requests: Settings; readonly limits: Settings };
  readonly securityContext: Readonly<Record<string, unknown>>;
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
}

interface Pods {
  readonly metadata: { readonly labels: Settings };
  readonly spec: {
    readonly terminationGracePeriodSeconds: number;
    readonly securityContext: Readonly<Record<string, unknown>>;
    readonly containers: readonly Container[];
    readonly volumes: readonly { readonly name: string }[];
  };
}

function manifests(): readonly Manifest[] {
  return readdirSync(KUBERNETES).flatMap((file) =>
    parseAllDocuments(readFileSync(join(KUBERNETES, file), 'utf8')).map(
      (document) => document.toJS({ maxAliasCount: 0 }) as Manifest,
    ),
  );
}

const ALL = manifests();

function ofKind(kind: string): Manifest {
  const [found, second] = ALL.filter((each) => each.kind === kind);
  assert.ok(found !== undefined && second === undefined, kind);
  return found;
}

interface SetSpec {
  readonly replicas: number;
  readonly serviceName: string;
  readonly updateStrategy: { readonly type: string };
  readonly selector: { readonly matchLabels: Settings };
  readonly template: Pods;
  readonly volumeClaimTemplates: readonly { readonly metadata: { readonly name: string } }[];
}

const SET = ofKind('StatefulSet')['spec'] as SetSpec;
const PODS = SET.template;
const [CONTAINER] = PODS.spec.containers as readonly [Container];

/** Names of settings that the guide puts into the Secret, with values of their kind. */
const SECRETS: Settings = {
  SITUS_KEK: Buffer.alloc(32, 7).toString('base64'),
  SITUS_STORE: 'postgres://situs:password@postgres/situs',
  SITUS_LIMITS: 'redis://situs:password@valkey:6379/0',
  SITUS_DATASETS: 'nats://nats:4222/situs',
};

/** Fails where a name is no setting, or the values cannot be used. */
function usable(settings: Settings): void {
  const names: readonly string[] = SETTINGS.map(({ name }) => name);
  assert.deepEqual(
    Object.keys(settings).filter((name) => !names.includes(name)),
    [],
  );
  const config = loadConfig(settings);
  if (config.metrics !== '') assert.notEqual(metricsAddress(config.metrics), null);
  if (config.proxies !== '') assert.notEqual(TrustedProxies.of(config.proxies), null);
  placeAddress(config.datasets, config.aws, false);
}

test('every manifest is one that the API of Kubernetes takes', async () => {
  assert.ok(ALL.length >= 6);
  for (const each of ALL)
    assert.deepEqual(await manifestProblems(each), [], `${each.kind} ${each.metadata.name}`);
});

test('a manifest with a wrong type, a missing member or a misspelt one would be found', async () => {
  const set = ofKind('StatefulSet');
  const spec = set['spec'] as Readonly<Record<string, unknown>>;
  const wrong = { ...set, spec: { ...spec, replicas: '3' } };
  assert.deepEqual(
    await manifestProblems(wrong),
    ['/spec/replicas type'].concat((await manifestProblems(wrong)).slice(1)),
  );
  const { selector: _, ...without } = spec;
  assert.match((await manifestProblems({ ...set, spec: without })).join(), /selector|required/);
  const misspelt = { ...set, spec: { ...spec, podManagmentPolicy: 'Parallel' } };
  assert.deepEqual(await manifestProblems(misspelt), ['no member "podManagmentPolicy"']);
});

test('services, budget and set are of the same pods', () => {
  const { labels } = PODS.metadata;
  const selectors = ALL.filter(({ kind }) => kind === 'Service').map(
    ({ spec }) => (spec as { readonly selector: Settings }).selector,
  );
  const budget = ofKind('PodDisruptionBudget')['spec'] as {
    readonly selector: { readonly matchLabels: Settings };
    readonly maxUnavailable: number;
  };
  for (const selector of [...selectors, budget.selector.matchLabels, SET.selector.matchLabels]) {
    assert.deepEqual(selector, labels);
  }
  assert.ok(SET.replicas >= 3 && budget.maxUnavailable < SET.replicas - 1);
  assert.equal(SET.updateStrategy.type, 'RollingUpdate');
  const services = ALL.filter(({ kind }) => kind === 'Service').map(
    ({ metadata }) => metadata.name,
  );
  assert.ok(services.includes(SET.serviceName));
});

test('ports, volumes and maps that are named are there', () => {
  const ports = CONTAINER.ports.map(({ name }) => name);
  const services = ALL.filter(({ kind }) => kind === 'Service').flatMap(
    ({ spec }) => (spec as { readonly ports: readonly { readonly targetPort: string }[] }).ports,
  );
  for (const { targetPort } of services) assert.ok(ports.includes(targetPort), targetPort);
  const volumes = [
    ...PODS.spec.volumes.map(({ name }) => name),
    ...SET.volumeClaimTemplates.map(({ metadata }) => metadata.name),
  ];
  assert.deepEqual(CONTAINER.volumeMounts.map(({ name }) => name).sort(), volumes.sort());
  const data = ofKind('ConfigMap')['data'] as Settings;
  assert.equal(CONTAINER.ports[0]?.containerPort, Number(data['PORT']));
  assert.equal(CONTAINER.ports[1]?.containerPort, metricsAddress(data['SITUS_METRICS']!)?.port);
  assert.deepEqual(CONTAINER.envFrom, [
    { configMapRef: { name: ofKind('ConfigMap').metadata.name } },
    { secretRef: { name: 'situs' } },
  ]);
});

test('pods are asked what the service answers, and have the time that it takes to leave', () => {
  const { startupProbe, livenessProbe, readinessProbe } = CONTAINER;
  for (const { httpGet } of [startupProbe, livenessProbe])
    assert.equal(httpGet.path, '/system/live');
  assert.equal(readinessProbe.httpGet.path, '/system/ready');
  for (const { httpGet } of [startupProbe, livenessProbe, readinessProbe])
    assert.equal(httpGet.port, 'http');
  const data = ofKind('ConfigMap')['data'] as Settings;
  const drain = Number(data['SITUS_DRAIN_SECONDS']);
  assert.ok(drain > readinessProbe.periodSeconds * readinessProbe.failureThreshold);
  assert.ok(PODS.spec.terminationGracePeriodSeconds > drain + DRAIN_MS_MAX / 1_000 + 10);
});

test('pods run as nobody in particular over a root that is never written', () => {
  const { securityContext: pod } = PODS.spec;
  assert.equal(pod['runAsNonRoot'], true);
  assert.ok(Number(pod['runAsUser']) > 0 && Number(pod['runAsGroup']) > 0);
  assert.deepEqual(pod['seccompProfile'], { type: 'RuntimeDefault' });
  assert.deepEqual(CONTAINER.securityContext, {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  });
  assert.match(CONTAINER.image, PINNED);
  const { requests, limits } = CONTAINER.resources;
  assert.deepEqual(
    [Object.keys(requests).sort(), Object.keys(limits)],
    [['cpu', 'memory'], ['memory']],
  );
  assert.equal(
    ALL.filter(({ kind }) => kind === 'Secret').length,
    0,
    'secrets are made, not kept in files',
  );
});

test('settings of the manifests and of the guide are settings, and can be used', () => {
  const data = ofKind('ConfigMap')['data'] as Settings;
  usable({ ...data, ...SECRETS });
  const made = [...GUIDE.matchAll(/--from-literal=(\w+)=/g)].map(([, name]) => name);
  assert.deepEqual(made.sort(), Object.keys(SECRETS).sort());
});

interface Service {
  readonly image: string;
  readonly environment?: Settings;
  readonly networks: readonly string[];
  readonly volumes?: readonly string[];
  readonly depends_on?: readonly string[] | Readonly<Record<string, unknown>>;
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly ports?: readonly string[];
  readonly stop_grace_period?: string;
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly networks: Readonly<Record<string, unknown>>;
  readonly volumes: Readonly<Record<string, unknown>>;
}

const COMPOSE = parse(readFileSync(join(PACKAGING, 'fleet', 'compose.yml'), 'utf8'), {
  merge: true,
}) as Compose;
const NODES = Object.entries(COMPOSE.services).filter(([name]) => name.startsWith('node'));

test('compose: services, networks and volumes that are named are there, in exact versions', () => {
  for (const [name, { image, networks, volumes = [], depends_on = [] }] of Object.entries(
    COMPOSE.services,
  )) {
    assert.match(image, PINNED, name);
    for (const network of networks) assert.ok(network in COMPOSE.networks, network);
    for (const volume of volumes.filter((each) => !each.startsWith('.'))) {
      assert.ok(volume.split(':')[0]! in COMPOSE.volumes, volume);
    }
    const needed = Array.isArray(depends_on)
      ? (depends_on as readonly string[])
      : Object.keys(depends_on);
    for (const other of needed) assert.ok(other in COMPOSE.services, other);
  }
});

test('compose: three nodes with the same usable settings, as locked up as a single one', () => {
  assert.equal(NODES.length, 3);
  const single = (parse(readFileSync(join(packageRoot(), 'compose.yaml'), 'utf8')) as Compose)
    .services['situs']!;
  const [, first] = NODES[0]!;
  const filled = Object.fromEntries(
    Object.entries(first.environment!).map(([name, value]) => [
      name,
      value
        .replace(/\$\{SITUS_KEK:\?[^}]+\}/, SECRETS['SITUS_KEK']!)
        .replace(/\$\{\w+:\?[^}]+\}/, 'password'),
    ]),
  );
  usable(filled);
  assert.deepEqual(
    Object.keys(SECRETS).filter((name) => filled[name] === undefined),
    [],
  );
  for (const [name, { volumes, ...node }] of NODES) {
    assert.deepEqual(node.environment, first.environment);
    for (const member of [
      'read_only',
      'cap_drop',
      'security_opt',
      'stop_grace_period',
      'image',
    ] as const) {
      assert.deepEqual(node[member], single[member], `${name} ${member}`);
    }
    assert.deepEqual(volumes, [`${name}:/var/lib/situs`]);
    assert.equal(node.ports, undefined, 'nodes are reached through the balancer alone');
  }
});

test('compose: the balancer sends to the nodes, by the rules of the proxy for one', () => {
  const own = readFileSync(join(PACKAGING, 'fleet', 'nginx.conf'), 'utf8');
  const servers = [...own.matchAll(/^\s*server (\w+):3000 /gm)].map(([, name]) => name);
  assert.deepEqual(
    servers,
    NODES.map(([name]) => name),
  );
  const one = readFileSync(join(PACKAGING, 'proxy', 'nginx.conf'), 'utf8');
  const locations = (text: string): string => text.slice(text.indexOf('location /'));
  assert.equal(locations(own), locations(one));
  for (const line of one.match(/proxy_set_header .*/g)!) assert.ok(own.includes(line), line);
  for (const [, { ports = [] }] of Object.entries(COMPOSE.services)) {
    for (const port of ports) assert.match(port, /^127\.0\.0\.1:/);
  }
});
