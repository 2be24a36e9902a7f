import { createHash } from 'node:crypto';
import { KubeSandbox } from '../kube-sandbox.js';
import type { KubeObject } from './kube-object.js';

const POD = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', namespace: 'lab' },
  spec: { containers: [{ name: 'main', image: 'debian:12' }] },
};

let sandbox: KubeSandbox;

beforeEach(async () => {
  sandbox = await KubeSandbox.listen({ namespaces: ['lab'] });
});

afterEach(() => sandbox.close());

async function call(method: string, path: string, body?: unknown, type = 'application/json') {
  const response = await fetch(`${sandbox.url}${path}`, {
    method,
    headers: { 'Content-Type': type },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, json: (await response.json()) as KubeObject & Record<string, never> };
}

test.each([
  ['apps/v1', 'daemonsets'],
  ['apps/v1', 'statefulsets'],
  ['batch/v1', 'jobs'],
  ['batch/v1', 'cronjobs'],
  ['policy/v1', 'poddisruptionbudgets'],
  ['storage.k8s.io/v1', 'csidrivers'],
  ['networking.k8s.io/v1', 'ingresses'],
  ['networking.k8s.io/v1', 'networkpolicies'],
  ['admissionregistration.k8s.io/v1', 'validatingwebhookconfigurations'],
  ['admissionregistration.k8s.io/v1', 'mutatingwebhookconfigurations'],
])('lists %s %s', async (version, plural) => {
  expect(await call('GET', `/apis/${version}/${plural}`)).toMatchObject({ status: 200, json: { items: [] } });
});

test('has an APIService for each group and version', async () => {
  const { json } = await call('GET', '/apis/apiregistration.k8s.io/v1/apiservices');
  const items = json['items'] as unknown as KubeObject[];
  expect(items.map(({ metadata }) => metadata.name)).toEqual(expect.arrayContaining(['v1.', 'v1.apps', 'v1.batch']));
});

describe('metadata.generation', () => {
  test.each([
    ['ConfigMap', 'configmaps', { data: { a: '1' } }, { data: { a: '2' } }],
    [
      'PersistentVolumeClaim',
      'persistentvolumeclaims',
      { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } },
      { metadata: { labels: { a: 'b' } } },
    ],
  ])('is absent on a %s', async (kind, plural, content, change) => {
    const path = `/api/v1/namespaces/lab/${plural}`;
    const created = await call('POST', path, { apiVersion: 'v1', kind, metadata: { name: 'x' }, ...content });
    expect(created.status).toBe(201);
    expect(created.json.metadata).not.toHaveProperty('generation');
    const changed = await call('PATCH', `${path}/x`, change, 'application/merge-patch+json');
    expect(changed.status).toBe(200);
    expect(changed.json.metadata).not.toHaveProperty('generation');
  });

  test('counts the changes of a pod', async () => {
    await call('POST', '/api/v1/namespaces/lab/pods', POD);
    const { json } = await call(
      'PATCH',
      '/api/v1/namespaces/lab/pods/web',
      { spec: { containers: [{ name: 'main', image: 'debian:13' }] } },
      'application/strategic-merge-patch+json',
    );
    expect(json.metadata.generation).toBe(2);
  });
});

describe('ephemeral containers', () => {
  const debug = { name: 'debugger', image: 'busybox', targetContainerName: 'main' };
  const path = '/api/v1/namespaces/lab/pods/web';
  const strategic = 'application/strategic-merge-patch+json';

  beforeEach(() => call('POST', '/api/v1/namespaces/lab/pods', POD));

  test('are added through their subresource, which changes nothing else', async () => {
    const patch = { metadata: { labels: { a: 'b' } }, spec: { nodeName: 'x', ephemeralContainers: [debug] } };
    const { status, json } = await call('PATCH', `${path}/ephemeralcontainers`, patch, strategic);
    expect(status).toBe(200);
    expect(json['spec']).toMatchObject({ ephemeralContainers: [debug] });
    expect(json['spec']).not.toHaveProperty('nodeName');
    expect(json.metadata).not.toHaveProperty('labels');
    expect((await call('GET', `${path}/ephemeralcontainers`)).json['spec']).toMatchObject({
      ephemeralContainers: [debug],
    });
  });

  test('stay when the pod itself is changed', async () => {
    await call('PATCH', `${path}/ephemeralcontainers`, { spec: { ephemeralContainers: [debug] } }, strategic);
    const { json } = await call(
      'PATCH',
      path,
      { metadata: { labels: { a: 'b' } }, spec: { ephemeralContainers: null } },
      'application/merge-patch+json',
    );
    expect(json.metadata.labels).toEqual({ a: 'b' });
    expect(json['spec']).toMatchObject({ ephemeralContainers: [debug] });
  });
});

test('a token of a service account is a JWT that names it, and authenticates it', async () => {
  const account = await call('GET', '/api/v1/namespaces/lab/serviceaccounts/default');
  const { json } = await call('POST', '/api/v1/namespaces/lab/serviceaccounts/default/token', {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: { expirationSeconds: 600, audiences: ['vault'] },
  });
  const { token } = json['status'] as unknown as { token: string };
  const [header, claims, signature] = token.split('.').map((part) => Buffer.from(part, 'base64url'));
  expect(JSON.parse(String(header))).toMatchObject({ alg: 'ES256' });
  const parsed = JSON.parse(String(claims)) as { exp: number; iat: number };
  expect(parsed).toMatchObject({
    sub: 'system:serviceaccount:lab:default',
    aud: ['vault'],
    'kubernetes.io': { namespace: 'lab', serviceaccount: { name: 'default', uid: account.json.metadata.uid } },
  });
  expect(parsed.exp - parsed.iat).toBe(600);
  expect(signature).toHaveLength(64);
  const review = await fetch(`${sandbox.url}/apis/authentication.k8s.io/v1/selfsubjectreviews`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }),
  });
  expect(await review.json()).toMatchObject({
    status: { userInfo: { username: 'system:serviceaccount:lab:default', uid: account.json.metadata.uid } },
  });
  const forged = `${token.slice(0, -8)}${createHash('sha1').update(token).digest('base64url').slice(0, 8)}`;
  const refused = await fetch(`${sandbox.url}/api/v1/pods`, { headers: { Authorization: `Bearer ${forged}` } });
  expect(refused.status).toBe(401);
});
