import { KubeSandbox } from '../kube-sandbox.js';
import { ApiClient } from '../testing/api-client.js';

const RESTRICTED = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'] },
  runAsNonRoot: true,
  seccompProfile: { type: 'RuntimeDefault' },
};

describe('Pod Security', () => {
  let sandbox: KubeSandbox;
  let api: ApiClient;
  beforeEach(async () => {
    sandbox = await KubeSandbox.listen({ namespaces: ['lab'] });
    api = new ApiClient(sandbox);
  });
  afterEach(() => sandbox.close());

  const enforce = (level: string) =>
    sandbox.store.patch('namespaces', { name: 'lab' }, ({ metadata }) => {
      metadata.labels = { ...metadata.labels, 'pod-security.kubernetes.io/enforce': level };
    });
  const create = async (spec: object, securityContext: object, query = '') => {
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'x', namespace: 'lab' },
      spec: { containers: [{ name: 'main', image: 'a:1', securityContext }], ...spec },
    };
    const { code: status, body } = await api.post(`/api/v1/namespaces/lab/pods${query}`, pod);
    return [status, (body as { message?: string }).message];
  };

  test.each<[level: string, spec: object, context: object, status: number, violations: string]>([
    ['privileged', { hostPID: true }, { privileged: true }, 201, ''],
    ['baseline', {}, {}, 201, ''],
    ['baseline', { hostPID: true, hostNetwork: true }, {}, 403, 'host namespaces (hostNetwork=true, hostPID=true)'],
    [
      'baseline',
      { volumes: [{ name: 'dev', hostPath: { path: '/dev' } }] },
      {},
      403,
      'hostPath volumes (volume "dev")',
    ],
    [
      'baseline',
      {},
      { privileged: true },
      403,
      'privileged (container "main" must not set securityContext.privileged=true)',
    ],
    ['restricted', {}, RESTRICTED, 201, ''],
    [
      'restricted',
      {},
      { ...RESTRICTED, allowPrivilegeEscalation: undefined },
      403,
      'allowPrivilegeEscalation != false (container "main" must set securityContext.allowPrivilegeEscalation=false)',
    ],
  ])('of the level %s: the pod %j with %j is %i', async (level, spec, context, status, violations) => {
    enforce(level);
    const message = `pods "x" is forbidden: violates PodSecurity "${level}:latest": ${violations}`;
    // A rehearsal gets the same answer.
    expect(await create(spec, context, '?dryRun=All')).toEqual([status, status === 201 ? undefined : message]);
    expect(sandbox.store.list('pods')).toEqual([]);
    expect(await create(spec, context)).toEqual([status, status === 201 ? undefined : message]);
    expect(sandbox.store.list('pods')).toHaveLength(status === 201 ? 1 : 0);
  });

  test('is not enforced in a namespace without a level', async () => {
    expect(await create({ hostPID: true }, { privileged: true })).toEqual([201, undefined]);
  });
});
