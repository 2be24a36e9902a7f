import { KubeSandbox } from '../../kube-sandbox.js';
import { ApiClient } from '../../testing/api-client.js';
import { machine, machines, MACHINES, MACHINES_PATH } from '../../testing/machine.js';
import type { KubeObject } from '../kube-object.js';
import { clusterRoleBinding, roleBinding } from './default-roles.js';

const API_VERSION = 'rbac.authorization.k8s.io/v1';
const role = (
  kind: string,
  name: string,
  rules: object[],
  namespace?: string,
): KubeObject & Record<string, unknown> => ({
  apiVersion: API_VERSION,
  kind,
  metadata: { name, ...(namespace && { namespace }) },
  rules,
});

interface Refusal {
  message: string;
  reason: string;
}

describe('RBAC', () => {
  let sandbox: KubeSandbox;

  beforeEach(async () => {
    sandbox = await KubeSandbox.listen({
      namespaces: ['lab', 'other'],
      rbac: { alice: ['reader'], bob: ['lab/starter'] },
    });
    sandbox.registry.register(machines);
    sandbox.store.load([
      role('ClusterRole', 'reader', [
        { apiGroups: ['lab.dev'], resources: ['machines'], verbs: ['get', 'list', 'watch'] },
      ]),
      role(
        'Role',
        'starter',
        [{ apiGroups: ['lab.dev'], resources: ['machines/start'], verbs: ['update'], resourceNames: ['a'] }],
        'lab',
      ),
      machine('a'),
    ]);
    sandbox.subresources.handle({ group: 'lab.dev', resource: 'machines', subresource: 'start' }, ['PUT'], () => ({
      code: 202,
    }));
  });

  afterEach(() => sandbox.close());

  const as = (user: string) => new ApiClient(sandbox, sandbox.tokenForUser(user));

  test('allows granted actions and refuses all others with the message of a real server', async () => {
    const alice = as('alice');
    expect((await alice.get(`${MACHINES_PATH}/a`)).code).toBe(200);
    const { code, body } = await alice.post<Refusal>(MACHINES_PATH, machine('b'));
    expect([code, body.reason, body.message]).toEqual([
      403,
      'Forbidden',
      'machines.lab.dev is forbidden: User "alice" cannot create resource "machines" in API group "lab.dev" in the namespace "lab"',
    ]);
    const pods = await alice.get<Refusal>('/api/v1/pods');
    expect(pods.body.message).toBe(
      'pods is forbidden: User "alice" cannot list resource "pods" in API group "" at the cluster scope',
    );
  });

  test('authorizes subresources by their own rules, names and namespaces', async () => {
    const bob = as('bob');
    expect((await bob.put(`${MACHINES_PATH}/a/start`, {})).code).toBe(202);
    const { body } = await bob.put<Refusal>(`${MACHINES_PATH}/b/start`, {});
    expect(body.message).toBe(
      'machines.lab.dev "b" is forbidden: User "bob" cannot update resource "machines/start" in API group "lab.dev" in the namespace "lab"',
    );
    expect((await bob.put('/apis/lab.dev/v1/namespaces/other/machines/a/start', {})).code).toBe(403);
  });

  test('authenticates service accounts by their issued tokens', async () => {
    const client = new ApiClient(sandbox, sandbox.tokenFor('lab', 'manager'));
    expect((await client.get(MACHINES_PATH)).code).toBe(403);
    sandbox.store.load([
      roleBinding('lab', 'm', { kind: 'ClusterRole', name: 'reader' }, [
        { kind: 'ServiceAccount', name: 'manager', namespace: 'lab' },
      ]),
    ]);
    expect((await client.get(MACHINES_PATH)).code).toBe(200);
    expect((await client.get('/apis/lab.dev/v1/machines')).code).toBe(403);
  });

  test('applies changes of roles and bindings immediately', async () => {
    const carol = as('carol');
    sandbox.store.load([clusterRoleBinding('carol', 'reader', [{ kind: 'User', name: 'carol' }])]);
    expect((await carol.get(MACHINES_PATH)).code).toBe(200);
    sandbox.store.delete('clusterrolebindings.rbac.authorization.k8s.io', { name: 'carol' });
    expect((await carol.get(MACHINES_PATH)).code).toBe(403);
  });

  test('combines the rules of aggregated roles', async () => {
    sandbox.store.load([
      {
        ...role('ClusterRole', 'all', []),
        aggregationRule: { clusterRoleSelectors: [{ matchLabels: { into: 'all' } }] },
      },
      {
        ...role('ClusterRole', 'part', [{ apiGroups: ['*'], resources: ['*'], verbs: ['list'] }]),
        metadata: { name: 'part', labels: { into: 'all' } },
      },
      clusterRoleBinding('dave', 'all', [{ kind: 'User', name: 'dave' }]),
    ]);
    expect((await as('dave').get('/api/v1/pods')).code).toBe(200);
  });

  test('allows discovery and self-review for every authenticated user', async () => {
    const stranger = as('stranger');
    expect((await stranger.get('/apis')).code).toBe(200);
    const review = (verb: string, user: string) =>
      as(user).post<{ status: { allowed: boolean } }>('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', {
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SelfSubjectAccessReview',
        spec: { resourceAttributes: { group: 'lab.dev', resource: 'machines', verb, namespace: 'lab' } },
      });
    expect((await review('list', 'alice')).body.status.allowed).toBe(true);
    expect((await review('delete', 'alice')).body.status.allowed).toBe(false);
    const rules = await as('alice').post<{ status: { resourceRules: object[] } }>(
      '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews',
      {
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SelfSubjectRulesReview',
        spec: { namespace: 'lab' },
      },
    );
    expect(rules.body.status.resourceRules).toContainEqual({
      apiGroups: ['lab.dev'],
      resources: ['machines'],
      verbs: ['get', 'list', 'watch'],
    });
  });

  test('treats a request without a token as anonymous, and an unknown token as unauthorized', async () => {
    const { code, body } = await new ApiClient(sandbox).get<Refusal>(MACHINES_PATH);
    expect([code, body.message]).toEqual([
      403,
      'machines.lab.dev is forbidden: User "system:anonymous" cannot list resource "machines" in API group "lab.dev" in the namespace "lab"',
    ]);
    expect(await new ApiClient(sandbox, 'stale').get(MACHINES_PATH)).toMatchObject({
      code: 401,
      body: { reason: 'Unauthorized', message: 'Unauthorized' },
    });
    const token = sandbox.tokenForUser('alice');
    sandbox.revoke(token);
    expect((await new ApiClient(sandbox, token).get(MACHINES_PATH)).code).toBe(401);
  });

  test('never restricts the administrator', async () => {
    const [, token = ''] = /token: (\S+)/.exec(sandbox.kubeconfig()) ?? [];
    expect((await new ApiClient(sandbox, token).delete(`${MACHINES_PATH}/a`)).code).toBe(200);
    expect(sandbox.store.count(MACHINES)).toBe(0);
  });
});
