import { readFileSync } from 'node:fs';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import {
  ServiceShutdown,
  type BuildContainer,
  type DiskBuild,
  type FollowedBuild,
  type InstanceRef,
} from '@headgate/domain-contracts';
import type { KubeObject } from '@headgate/kube-sandbox';
import { diskBuildsContract } from '@headgate/testing';
import { parse } from 'yaml';
import { SandboxHarness, NAMESPACE, type SandboxHarnessOptions } from '../testing/sandbox-harness.contract.js';
import { buildLabel, isAllowedImage, jobName, volumeName, type DiskBuildOptions } from './build-objects.js';

const GIB = 1024 ** 3;
const KEY = 'ssh-ed25519 AAAAC3Nza ann@example.org';
const manifestOf = (file: string) =>
  parse(readFileSync(new URL(`../../../../deploy/kustomize/${file}.yaml`, import.meta.url), 'utf8')) as KubeObject;

const open = (
  { images = ['*'], ...builds }: Partial<DiskBuildOptions> = {},
  options: SandboxHarnessOptions = {},
): Promise<SandboxHarness> => SandboxHarness.open({ ...options, backend: { diskBuilds: { images, ...builds } } });

/** A sandbox that enforces exactly the roles of the manifests. */
const openDeployed = (roles: readonly string[]): Promise<SandboxHarness> =>
  open(
    {},
    {
      sandbox: {
        rbac: { headgate: roles.map((role) => `headgate-${role}`) },
        extensions: [
          { install: ({ store }) => void store.load([manifestOf('cluster-role'), manifestOf('disk-builds')]) },
        ],
      },
      user: 'headgate',
    },
  );

diskBuildsContract('kube over the sandbox', () => open(), { timeoutMs: 30_000 });
diskBuildsContract('kube with the least permissions', () => openDeployed(['vm-service', 'disk-builds']), {
  timeoutMs: 30_000,
});

describe('builds of disks in a cluster', () => {
  let harness: SandboxHarness;
  let names = 0;
  afterEach(() => harness.close());

  const builds = () => harness.backend.require('diskBuilds');
  const containerOf = (image = 'registry.example.org/os:1', extra: Partial<BuildContainer> = {}): BuildContainer => ({
    image,
    command: [
      'bootc',
      'install',
      'to-disk',
      '--root-ssh-authorized-keys',
      '/headgate/authorized_keys',
      '/headgate/disk.raw',
    ],
    permissions: ['privileged-container', 'host-processes', 'host-devices', 'network'],
    diskFile: '/headgate/disk.raw',
    keysFile: '/headgate/authorized_keys',
    ...extra,
  });
  const buildOf = (overrides: Partial<DiskBuild> = {}): DiskBuild => ({
    id: `bootc-web-${++names}`,
    ref: harness.freshRef(),
    request: { image: 'registry.example.org/os:1', diskBytes: 4 * GIB, sshKey: KEY },
    ...overrides,
  });
  const record = (overrides: Partial<FollowedBuild> = {}) => {
    const lines: string[] = [];
    const report: FollowedBuild = {
      log: (line) => void lines.push(line),
      savePosition: async () => undefined,
      signal: new AbortController().signal,
      ...overrides,
    };
    return { lines, report };
  };
  const objects = (resource: string): KubeObject[] =>
    harness.sandbox.store.list<KubeObject>(resource, { namespace: NAMESPACE });
  const left = (): string[] =>
    ['jobs.batch', 'pods', 'secrets', 'datavolumes.cdi.kubevirt.io', 'persistentvolumeclaims'].flatMap((resource) =>
      objects(resource).map(({ kind, metadata }) => `${kind} ${metadata.name}`),
    );
  /** The cluster removes some objects later than the request: a claim after its pod, a VM after its finalizers. */
  const until = async (isReached: () => boolean): Promise<void> => {
    while (!isReached())
      await new Promise<void>((resolve) => {
        const stop = harness.sandbox.store.subscribe('*', () => resolve(stop()), { atRest: 'never' });
      });
  };
  const untilNothingIsLeft = () => until(() => left().length === 0);
  const jobOf = ({ id }: DiskBuild) =>
    harness.sandbox.store.get<KubeObject & { spec: { template: { spec: Record<string, unknown> } } }>('jobs.batch', {
      namespace: NAMESPACE,
      name: jobName(id),
    });
  const hang = ({ id }: DiskBuild) => {
    const target = { namespace: NAMESPACE, name: jobName(id) };
    harness.simulation.faults.inject('container-hangs', target);
    return () => harness.simulation.faults.clear('container-hangs', target);
  };
  /** Resolves when the log contains the text. */
  const recordUntil = (text: string, signal?: AbortSignal) => {
    const reached = Promise.withResolvers<void>();
    const recording = record(signal ? { signal } : {});
    const report: FollowedBuild = {
      ...recording.report,
      log: (line) => {
        recording.lines.push(line);
        if (line.includes(text)) reached.resolve();
      },
    };
    return { lines: recording.lines, report, reached: reached.promise };
  };
  const diskOf = async (ref: InstanceRef): Promise<string> => {
    const disk = await harness.backend.require('diskExport').open(ref, 'raw.gz', new AbortController().signal);
    return gunzipSync(await buffer(disk)).toString();
  };

  test('write the image and the SSH key to the disk of the VM, through nothing but the cluster', async () => {
    harness = await open({ pullSecret: 'registry' });
    harness.sandbox.store.create('secrets', {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'registry', namespace: NAMESPACE },
      data: { '.dockerconfigjson': '' },
    } as KubeObject);
    const build = buildOf();
    const { lines, report } = record();
    const volume = await builds().prepare(build, report);
    await builds().install(build, containerOf(), report);
    expect(lines.slice(1)).toEqual([
      expect.stringContaining(`Job ${NAMESPACE}/`),
      'Installing image: registry.example.org/os:1 (simulated)',
      'Creating root filesystem on /headgate/disk.raw',
      ...['Deploying container image', 'Installing bootloader', 'Installation complete!'],
    ]);
    const spec = { ref: build.ref, cpu: 1, memoryBytes: GIB, diskBytes: 4 * GIB, start: false };
    const source = { kind: 'bootc', image: build.request.image, builder: 'context', volume: volume.name } as const;
    await harness.backend.require('provisioning').create({ ...spec, source });
    await builds().handOver(build);
    await builds().remove(build);
    await harness.becomes(build.ref, 'Stopped');
    const disk = await diskOf(build.ref);
    expect(disk).toContain('simulated installation of registry.example.org/os:1');
    expect(disk).toContain(`authorized keys: ${KEY}`);
    expect([objects('jobs.batch'), objects('secrets').map(({ metadata }) => metadata.name)]).toEqual([
      [],
      ['registry'],
    ]);
    expect(harness.sandbox.requests.summary()).not.toHaveProperty('create uploadtokenrequests.upload.cdi.kubevirt.io');
    // The disk belongs to the VM now.
    harness.sandbox.store.delete('virtualmachines.kubevirt.io', { namespace: NAMESPACE, name: build.ref.name });
    await until(() => objects('datavolumes.cdi.kubevirt.io').length === 0);
  });

  test('run in a pod with the planned permissions only, on a node of the architecture of the VM', async () => {
    harness = await open({ pullSecret: 'registry', timeoutMs: 60_000 });
    const build = buildOf();
    const permissions = ['host-processes', 'network'] as const;
    const stop = new AbortController();
    const { report, reached } = recordUntil('Job tailvm/', stop.signal);
    await builds().prepare(build, report);
    const following = builds().install(build, containerOf(undefined, { permissions }), report);
    await reached;
    const pod = jobOf(build)?.spec.template.spec;
    expect(pod).toMatchObject({
      hostPID: true,
      restartPolicy: 'Never',
      automountServiceAccountToken: false,
      imagePullSecrets: [{ name: 'registry' }],
      nodeSelector: { 'kubernetes.io/arch': 'amd64' },
    });
    expect(JSON.stringify(pod)).not.toMatch(/"privileged"|hostPath|ssh-ed25519/);
    expect(jobOf(build)?.spec).toMatchObject({
      backoffLimit: 0,
      activeDeadlineSeconds: 60,
      ttlSecondsAfterFinished: 86_400,
    });
    stop.abort(new Error('canceled'));
    await expect(following).rejects.toThrow('canceled');
  });

  test('use a block device where the storage has them, and a builder image that is configured', async () => {
    harness = await open({ builderImage: 'registry.example.org/builder:1' });
    const build = buildOf({ request: { image: 'registry.example.org/os:1', diskBytes: 4 * GIB } });
    const { report } = record();
    const volume = await builds().prepare(build, report);
    harness.sandbox.store.patch(
      'persistentvolumeclaims',
      { namespace: NAMESPACE, name: volume.name },
      (draft: object) => {
        Object.assign((draft as { spec: object }).spec, { volumeMode: 'Block' });
      },
    );
    expect(await builds().prepare(build, report)).toMatchObject({ isBlockDevice: true });
    const command = [
      'bootc',
      'install',
      'to-disk',
      '--source-imgref',
      'docker://registry.example.org/os:1',
      '/headgate/disk.raw',
    ];
    await builds().install(build, containerOf(undefined, { command }), report);
    const [container] = jobOf(build)?.spec.template.spec['containers'] as Record<string, unknown>[];
    expect(container).toMatchObject({
      image: 'registry.example.org/builder:1',
      volumeDevices: [{ devicePath: '/headgate/disk.raw' }],
    });
  });

  test('continue while the service is down, and are followed to their end by the next one', async () => {
    harness = await open();
    const build = buildOf();
    const release = hang(build);
    const shutdown = new AbortController();
    const positions: string[] = [];
    const first = recordUntil('Installation complete!', shutdown.signal);
    await builds().prepare(build, first.report);
    const following = builds().install(build, containerOf(), {
      ...first.report,
      savePosition: async (one) => void positions.push(one),
    });
    await first.reached;
    shutdown.abort(new ServiceShutdown('The service stops.'));
    await expect(following).rejects.toThrow(ServiceShutdown);
    const uid = jobOf(build)?.metadata.uid;
    expect(uid).toBeDefined();
    release();
    const second = record();
    await builds().install(build, containerOf(), second.report);
    expect(jobOf(build)?.metadata.uid).toBe(uid);
    expect(second.lines[0]).toBe('The build was started before; it is followed to its end.');
    expect(objects('pods')).toHaveLength(1);
  });

  test.each<[title: string, prepare: (build: DiskBuild) => void, image: string, code: string, message: RegExp]>([
    [
      'the container fails',
      ({ id }) => harness.simulation.faults.inject('container-fails', { namespace: NAMESPACE, name: jobName(id) }),
      'registry.example.org/os:1',
      'BACKEND_FAILED',
      /status 1: error: simulated failure/,
    ],
    [
      'the image is not bootable',
      () => undefined,
      'registry.example.org/not-bootable:1',
      'INVALID_SOURCE',
      /probably not bootable/,
    ],
  ])('fail with the reason when %s, and are not repeated', async (_title, prepare, image, code, message) => {
    harness = await open();
    const build = buildOf();
    prepare(build);
    await builds().prepare(build, record().report);
    const install = () => builds().install(build, containerOf(image), record().report);
    await expect(install()).rejects.toMatchObject({ code, message: expect.stringMatching(message) as string });
    await expect(install()).rejects.toMatchObject({ code });
    expect(objects('pods')).toHaveLength(1);
    await builds().remove(build);
    await untilNothingIsLeft();
  });

  test('fail when their time is over', async () => {
    harness = await open({ timeoutMs: 1000 });
    const build = buildOf();
    hang(build);
    await builds().prepare(build, record().report);
    await expect(builds().install(build, containerOf(), record().report)).rejects.toMatchObject({
      message: 'The build failed: it took too long.',
    });
    await builds().remove(build);
    await untilNothingIsLeft();
  });

  test('leave nothing when they are canceled while they run', async () => {
    harness = await open();
    const build = buildOf();
    hang(build);
    const abort = new AbortController();
    const { report, reached } = recordUntil('Installation complete!', abort.signal);
    await builds().prepare(build, report);
    const following = builds().install(build, containerOf(), report);
    await reached;
    abort.abort(new Error('canceled'));
    await expect(following).rejects.toThrow('canceled');
    await builds().remove(build);
    await untilNothingIsLeft();
  });

  test('touch no object that only has the name of theirs, nor the disk of a VM', async () => {
    harness = await open();
    const build = buildOf();
    const name = volumeName(build);
    harness.sandbox.store.create('datavolumes.cdi.kubevirt.io', {
      apiVersion: 'cdi.kubevirt.io/v1beta1',
      kind: 'DataVolume',
      metadata: { name, namespace: NAMESPACE },
      spec: { source: { blank: {} }, storage: { resources: { requests: { storage: '1Gi' } } } },
    } as KubeObject);
    await expect(builds().prepare(build, record().report)).rejects.toMatchObject({ code: 'ALREADY_EXISTS' });
    await builds().remove(build);
    expect(objects('datavolumes.cdi.kubevirt.io')).toHaveLength(1);
    // Another VM that was given the volume while the build ended.
    const other = buildOf();
    const volume = await builds().prepare(other, record().report);
    const ref = harness.freshRef();
    const spec = { ref, cpu: 1, memoryBytes: GIB, diskBytes: 4 * GIB, start: false };
    await harness.backend.require('provisioning').create({ ...spec, source: { kind: 'pvc', claim: volume.name } });
    await builds().remove(other);
    expect(objects('datavolumes.cdi.kubevirt.io').map(({ metadata }) => metadata.name)).toContain(volume.name);
  });

  describe('are refused before anything is created', () => {
    const plan = (image?: string) => builds().plan(buildOf(), containerOf(image));
    afterEach(() => expect(left()).toEqual([]));

    test('for an image that the configuration does not allow', async () => {
      harness = await open({ images: ['registry.example.org/os', 'quay.io/fedora/'] });
      expect((await plan('registry.example.org/other:1')).refusals).toMatchObject([
        { code: 'INVALID_SOURCE', remedy: expect.stringContaining('diskBuilds.images') as string },
      ]);
      expect((await plan('registry.example.org/os:1')).refusals).toEqual([]);
    });

    test.each(['baseline', 'restricted'])('in a namespace that enforces the Pod Security level %s', async (level) => {
      harness = await open();
      harness.sandbox.store.patch('namespaces', { name: NAMESPACE }, ({ metadata }) => {
        metadata.labels = { ...metadata.labels, 'pod-security.kubernetes.io/enforce': level };
      });
      expect((await plan()).refusals).toMatchObject([
        {
          code: 'NOT_SUPPORTED',
          reason: expect.stringContaining(`violates PodSecurity "${level}:latest"`) as string,
          remedy: expect.stringContaining('pod-security.kubernetes.io/enforce=privileged') as string,
        },
      ]);
    });

    test('without the permissions, which are named', async () => {
      harness = await openDeployed(['vm-service']);
      const { refusals } = await plan();
      expect(refusals).toMatchObject([
        { code: 'NOT_SUPPORTED', remedy: expect.stringContaining('disk-builds.yaml') as string },
      ]);
      expect(refusals[0]?.reason).toMatch(/get jobs\.batch.*get pods\/log|get jobs\.batch/);
    });
  });

  test('report the refusal of a cluster that creates no pods for the Job', async () => {
    harness = await open();
    const build = buildOf();
    await builds().prepare(build, record().report);
    harness.sandbox.store.patch('namespaces', { name: NAMESPACE }, ({ metadata }) => {
      metadata.labels = { ...metadata.labels, 'pod-security.kubernetes.io/enforce': 'restricted' };
    });
    await expect(builds().install(build, containerOf(), record().report)).rejects.toMatchObject({
      code: 'BACKEND_FAILED',
      message: expect.stringContaining('violates PodSecurity') as string,
    });
    await builds().remove(build);
    await untilNothingIsLeft();
  }, 20_000);
});

test.each<[image: string, allowed: string[], isAllowed: boolean]>([
  ['quay.io/fedora/fedora-bootc:43', ['quay.io/fedora/fedora-bootc'], true],
  ['quay.io/fedora/fedora-bootc@sha256:0', ['quay.io/fedora/fedora-bootc'], true],
  ['quay.io/fedora/fedora-bootc-evil:43', ['quay.io/fedora/fedora-bootc'], false],
  ['quay.io/fedora/fedora-bootc:43', ['quay.io/fedora/'], true],
  ['quay.io/fedora.evil.example/x', ['quay.io/fedora/'], false],
  ['quay.io.evil.example/fedora/x', ['quay.io/'], false],
  ['anything.example/x', ['*'], true],
  ['anything.example/x', [], false],
])('the image %s is allowed by %j: %s', (image, allowed, isAllowed) => {
  expect(isAllowedImage(image, allowed)).toBe(isAllowed);
});

test('names of a build are valid, whatever the ID of its task', () => {
  const id = `bootc-${'a'.repeat(200)}`;
  expect(buildLabel(id)).toMatch(/^[0-9a-f]{16}$/);
  expect(jobName(id).length).toBeLessThanOrEqual(63);
});
