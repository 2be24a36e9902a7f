import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { jest } from '@jest/globals';
import { KubeSandbox } from './kube-sandbox.js';
import { findKubectl } from './testing/find-kubectl.js';

const run = promisify(execFile);

const kubectl = findKubectl();

// Each call starts a process, and some tests make several calls.
jest.setTimeout(180_000);

const WIDGETS = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.lab.dev' },
  spec: {
    group: 'lab.dev',
    scope: 'Namespaced',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', shortNames: ['wd'] },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: {
          status: {},
          scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' },
        },
        additionalPrinterColumns: [
          { name: 'Size', type: 'integer', jsonPath: '.spec.size' },
          { name: 'Mode', type: 'string', jsonPath: '.spec.mode', priority: 1 },
        ],
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                required: ['size'],
                properties: {
                  size: { type: 'integer', minimum: 1, description: 'How big the widget is.' },
                  mode: { type: 'string', default: 'auto' },
                  replicas: { type: 'integer' },
                },
              },
              status: { type: 'object', properties: { phase: { type: 'string' }, replicas: { type: 'integer' } } },
            },
          },
        },
      },
    ],
  },
};

const widget = (name: string, spec: object) => ({
  apiVersion: 'lab.dev/v1',
  kind: 'Widget',
  metadata: { name, namespace: 'lab' },
  spec,
});

const DEPLOYMENT = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace: 'lab' },
  spec: {
    replicas: 2,
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: {
        containers: [
          { name: 'web', image: 'web:1' },
          { name: 'side', image: 'side:1' },
        ],
      },
    },
  },
};

// The title mentions an absent kubectl, so that the report explains the skipped tests.
const describeKubectl = kubectl ? describe : describe.skip;

describeKubectl(kubectl ? 'kubectl' : 'kubectl (skipped: no kubectl on the PATH)', () => {
  let sandbox: KubeSandbox;
  let folder: string;

  beforeAll(async () => {
    sandbox = await KubeSandbox.listen({ namespaces: ['lab'] });
    folder = await mkdtemp(join(tmpdir(), 'kube-sandbox-kubectl-'));
    await writeFile(join(folder, 'config'), sandbox.kubeconfig(), { mode: 0o600 });
    sandbox.store.create('customresourcedefinitions.apiextensions.k8s.io', WIDGETS);
  });

  afterAll(async () => {
    await sandbox.close();
    await rm(folder, { recursive: true, force: true });
  });

  beforeEach(() => {
    for (const resource of ['widgets.lab.dev', 'deployments.apps']) {
      for (const { metadata } of sandbox.store.list(resource)) sandbox.store.delete(resource, metadata);
    }
    sandbox.store.create('widgets.lab.dev', widget('a', { size: 1, mode: 'auto' }));
    sandbox.store.create('deployments.apps', DEPLOYMENT);
  });

  const argumentsOf = (args: string[]): string[] => ['--cache-dir', join(folder, 'cache'), '-n', 'lab', ...args];
  const environment = () => ({ PATH: process.env['PATH'], HOME: folder, KUBECONFIG: join(folder, 'config') });
  const kube = async (...args: string[]): Promise<string> =>
    (await run(kubectl!, argumentsOf(args), { env: environment(), timeout: 120_000 })).stdout;
  const failure = async (...args: string[]): Promise<string> => {
    const outcome = run(kubectl!, argumentsOf(args), { env: environment(), timeout: 120_000 });
    const stderr = await outcome.then(
      () => undefined,
      (error: { stderr: string }) => error.stderr,
    );
    expect(stderr).toBeDefined();
    return stderr!;
  };
  const apply = async (object: object, ...args: string[]): Promise<string> => {
    const file = join(folder, 'object.json');
    await writeFile(file, JSON.stringify(object));
    return kube('apply', '-f', file, ...args);
  };

  test('get prints the columns of the kind, more with -o wide', async () => {
    expect(await kube('get', 'widgets')).toMatch(/^NAME +SIZE\na +1\n$/);
    expect(await kube('get', 'wd', '-o', 'wide')).toMatch(/^NAME +SIZE +MODE\na +1 +auto\n$/);
    expect(await kube('get', 'deploy,ns')).toMatch(/deployment\.apps\/web +0\/2 .*namespace\/lab +Active/s);
  });

  test('get -o json and -o yaml print the object', async () => {
    expect(JSON.parse(await kube('get', 'widget', 'a', '-o', 'json'))).toMatchObject(widget('a', { size: 1 }));
    expect(await kube('get', 'widget', 'a', '-o', 'yaml')).toContain('  size: 1\n');
    expect(await kube('get', 'widget', 'a', '-o', 'jsonpath={.spec.mode}')).toBe('auto');
  });

  test('get reports an absent object', async () => {
    expect(await failure('get', 'widget', 'z')).toBe('Error from server (NotFound): widgets.lab.dev "z" not found\n');
  });

  test('get reads a long list in chunks', async () => {
    sandbox.store.load(Array.from({ length: 25 }, (_, index) => widget(`w${index}`, { size: 1 })));
    sandbox.requests.reset();
    expect((await kube('get', 'widgets', '--chunk-size=10', '--no-headers')).split('\n')).toHaveLength(27);
    expect(sandbox.requests.count({ verb: 'list', resource: 'widgets.lab.dev' })).toBe(3);
  });

  test('describe shows the object and its events', async () => {
    sandbox.events.record(sandbox.store.require('widgets.lab.dev', { namespace: 'lab', name: 'a' }), {
      type: 'Normal',
      reason: 'Polished',
      message: 'it shines',
      component: 'polisher',
    });
    const described = await kube('describe', 'widget', 'a');
    expect(described).toContain('Size:  1');
    expect(described).toMatch(/Normal +Polished .* polisher +it shines/);
    expect(await kube('describe', 'deployment', 'web')).toContain('2 desired');
    expect(await kube('describe', 'namespace', 'lab')).toContain('Status:       Active');
  });

  test('apply creates, detects an unchanged object, and patches', async () => {
    expect(await apply(widget('b', { size: 2 }))).toBe('widget.lab.dev/b created\n');
    expect(await apply(widget('b', { size: 2 }))).toBe('widget.lab.dev/b unchanged\n');
    expect(await apply(widget('b', { size: 3 }))).toBe('widget.lab.dev/b configured\n');
    expect(sandbox.store.require('widgets.lab.dev', { namespace: 'lab', name: 'b' })).toMatchObject({
      spec: { size: 3, mode: 'auto' },
    });
  });

  test('apply of a built-in kind merges lists by their keys', async () => {
    await apply({ ...DEPLOYMENT, metadata: { name: 'api', namespace: 'lab' } });
    await kube(
      'patch',
      'deployment',
      'api',
      '-p',
      JSON.stringify({ spec: { template: { spec: { containers: [{ name: 'extra', image: 'x' }] } } } }),
    );
    const changed = structuredClone({ ...DEPLOYMENT, metadata: { name: 'api', namespace: 'lab' } });
    changed.spec.template.spec.containers[0]!.image = 'web:2';
    await apply(changed);
    const images = await kube('get', 'deploy', 'api', '-o', 'jsonpath={.spec.template.spec.containers[*].image}');
    expect(images.split(' ').sort()).toEqual(['side:1', 'web:2', 'x']);
  });

  test('apply reports a kind that is not served', async () => {
    const file = join(folder, 'gadget.json');
    await writeFile(file, JSON.stringify({ ...widget('g', { size: 1 }), kind: 'Gadget' }));
    expect(await failure('apply', '-f', file)).toContain('no matches for kind "Gadget" in version "lab.dev/v1"');
  });

  test('create works for secrets, tokens, deployments and roles', async () => {
    await kube('create', 'secret', 'generic', 's', '--from-literal=a=b');
    expect(await kube('get', 'secret', 's', '-o', 'jsonpath={.data.a}')).toBe('Yg==');
    expect(await kube('create', 'token', 'default')).toMatch(/^\S{20,}$/);
    await kube('create', 'deployment', 'd', '--image=x:1', '--replicas=2', '--port=80');
    const spec = (
      await kube(
        'get',
        'deploy',
        'd',
        '-o',
        'jsonpath={.spec.replicas} {.spec.template.spec.containers[0].ports[0].containerPort}',
      )
    ).split(' ');
    expect(spec).toEqual(['2', '80']);
    await kube('create', 'role', 'r', '--verb=get,list', '--resource=pods');
    await kube('create', 'rolebinding', 'b', '--role=r', '--user=jane');
    expect(sandbox.store.require('roles.rbac.authorization.k8s.io', { namespace: 'lab', name: 'r' })).toMatchObject({
      rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get', 'list'] }],
    });
    expect(
      sandbox.store.require('rolebindings.rbac.authorization.k8s.io', { namespace: 'lab', name: 'b' }),
    ).toMatchObject({
      roleRef: { kind: 'Role', name: 'r' },
      subjects: [{ kind: 'User', name: 'jane' }],
    });
  });

  test('apply refuses unknown fields', async () => {
    const file = join(folder, 'unknown.json');
    await writeFile(file, JSON.stringify(widget('c', { size: 1, color: 'red' })));
    expect(await failure('apply', '-f', file)).toContain('unknown field "spec.color"');
  });

  test('apply --server-side tracks owners and refuses conflicts without force', async () => {
    expect(await apply(widget('s', { size: 1 }), '--server-side')).toBe('widget.lab.dev/s serverside-applied\n');
    const file = join(folder, 'other.json');
    await writeFile(file, JSON.stringify(widget('s', { size: 2 })));
    const refused = await failure('apply', '--server-side', '--field-manager=other', '-f', file);
    expect(refused).toContain('Apply failed with 1 conflict: conflict with "kubectl": .spec.size');
    await kube('apply', '--server-side', '--field-manager=other', '--force-conflicts', '-f', file);
    expect(await kube('get', 'wd', 's', '-o', 'jsonpath={.spec.size}')).toBe('2');
  });

  test('label and annotate add and remove', async () => {
    await kube('label', 'widget', 'a', 'tier=front', 'team.example/tag.web=true');
    await kube('annotate', 'widget', 'a', 'note=hello');
    expect(await kube('get', 'wd', '-l', 'tier=front,team.example/tag.web', '-o', 'name')).toBe('widget.lab.dev/a\n');
    await kube('label', 'widget', 'a', 'tier-');
    const { metadata } = sandbox.store.require('widgets.lab.dev', { namespace: 'lab', name: 'a' });
    expect([metadata.labels, metadata.annotations]).toEqual([{ 'team.example/tag.web': 'true' }, { note: 'hello' }]);
  });

  test('patch supports merge, JSON and strategic patches', async () => {
    await kube('patch', 'wd', 'a', '--type=merge', '-p', '{"spec":{"size":5}}');
    await kube('patch', 'wd', 'a', '--type=json', '-p', '[{"op":"replace","path":"/spec/mode","value":"manual"}]');
    expect(sandbox.store.require('widgets.lab.dev', { namespace: 'lab', name: 'a' })).toMatchObject({
      spec: { size: 5, mode: 'manual' },
    });
    await kube(
      'patch',
      'deploy',
      'web',
      '--type=strategic',
      '-p',
      '{"spec":{"template":{"spec":{"containers":[{"name":"side","image":"side:2"}]}}}}',
    );
    expect(await kube('get', 'deploy', 'web', '-o', 'jsonpath={.spec.template.spec.containers[*].image}')).toBe(
      'web:1 side:2',
    );
    expect(await failure('patch', 'wd', 'a', '--type=merge', '-p', '{"spec":{"size":0}}')).toContain(
      'should be greater than or equal to 1',
    );
  });

  test('scale changes the replicas of built-in and custom kinds', async () => {
    await kube('scale', 'deployment', 'web', '--replicas=4');
    await kube('scale', 'widget', 'a', '--replicas=3');
    expect(await kube('get', 'deploy', 'web', '-o', 'jsonpath={.spec.replicas}')).toBe('4');
    expect(await kube('get', 'wd', 'a', '-o', 'jsonpath={.spec.replicas}')).toBe('3');
  });

  test('create namespace works, and deleting a namespace empties it', async () => {
    expect(await kube('create', 'namespace', 'short')).toBe('namespace/short created\n');
    await kube('create', 'configmap', 'c', '--from-literal=a=b', '-n', 'short');
    expect(await kube('get', 'configmap', 'c', '-n', 'short', '-o', 'jsonpath={.data.a}')).toBe('b');
    expect(await kube('delete', 'namespace', 'short')).toMatch(/^namespace "short" deleted/);
    expect(await failure('create', 'configmap', 'c', '-n', 'short')).toContain('namespaces "short" not found');
    expect(sandbox.store.list('configmaps', { namespace: 'short' })).toEqual([]);
  });

  test('delete waits for a finalizer', async () => {
    sandbox.store.patch('widgets.lab.dev', { namespace: 'lab', name: 'a' }, ({ metadata }) => {
      metadata.finalizers = ['lab.dev/hold'];
    });
    const release = sandbox.store.subscribe('widgets.lab.dev', ({ object }) => {
      if (!object.metadata.deletionTimestamp) return;
      release();
      sandbox.store.patch('widgets.lab.dev', object.metadata, ({ metadata }) => {
        metadata.finalizers = [];
      });
    });
    expect(await kube('delete', 'widget', 'a')).toMatch(/^widget\.lab\.dev "a" deleted/);
    expect(sandbox.store.count('widgets.lab.dev')).toBe(0);
  });

  test('get -w prints changes as they happen', async () => {
    const child = spawn(kubectl!, argumentsOf(['get', 'widgets', '-w']), { env: environment() });
    let seen = '';
    child.stdout.on('data', (data: Buffer) => (seen += data.toString()));
    const line = async (pattern: RegExp): Promise<void> => {
      while (!pattern.test(seen)) await once(child.stdout, 'data');
    };
    await line(/^a +1$/m);
    sandbox.store.patch<ReturnType<typeof widget> & { spec: { size: number } }>(
      'widgets.lab.dev',
      { namespace: 'lab', name: 'a' },
      ({ spec }) => {
        spec.size = 7;
      },
    );
    await line(/^a +7$/m);
    child.kill();
    await once(child, 'exit');
    expect(seen.match(/NAME/g)).toHaveLength(1);
  });

  test('wait returns when the condition is met', async () => {
    sandbox.requests.reset();
    const waiting = kube('wait', '--for=jsonpath={.status.phase}=Ready', 'widget/a', '--timeout=15s');
    while (sandbox.requests.count({ verb: 'watch', resource: 'widgets.lab.dev' }) === 0)
      await new Promise(setImmediate);
    sandbox.store.patch<ReturnType<typeof widget> & { status?: object }>(
      'widgets.lab.dev',
      { namespace: 'lab', name: 'a' },
      (draft) => {
        draft.status = { phase: 'Ready' };
      },
    );
    expect(await waiting).toBe('widget.lab.dev/a condition met\n');
  });

  test('explain and api-resources include custom and built-in kinds', async () => {
    expect(await kube('explain', 'widget.spec.size')).toContain('How big the widget is.');
    expect(await kube('explain', 'pod.spec.containers')).toContain('image\t<string>');
    const resources = await kube('api-resources');
    expect(resources).toMatch(/^widgets +wd +lab\.dev\/v1 +true +Widget$/m);
    expect(resources).toMatch(/^pods +po +v1 +true +Pod$/m);
  });

  test('auth shows the user and their permissions', async () => {
    expect(await kube('auth', 'whoami')).toContain('kubernetes-admin');
    expect(await kube('auth', 'can-i', 'delete', 'widgets')).toBe('yes\n');
  });
});
