import { randomUUID, createHash } from 'node:crypto';
import type { BootProof, BootSpec, PortableVm, ProofDisk } from '@headgate/domain-contracts';
import type { KubeObject } from '@headgate/kube-sandbox';
import { HurriedClock } from '../testing/faulty-cluster.contract.js';
import { NAMESPACE, SandboxHarness, type SandboxHarnessOptions } from '../testing/sandbox-harness.contract.js';

const MIB = 1024 ** 2;
const VMS = 'virtualmachines.kubevirt.io';
const VMIS = 'virtualmachineinstances.kubevirt.io';
const DATA_VOLUMES = 'datavolumes.cdi.kubevirt.io';
const CLAIMS = 'persistentvolumeclaims';
const never = new AbortController().signal;
/** No other wait has this limit. */
const LIMIT_MS = 77_000;

const VM: PortableVm = {
  cpu: 1,
  memoryBytes: 256 * MIB,
  arch: 'x86_64',
  firmware: 'bios',
  tpm: false,
  autostart: true,
  tags: ['prod'],
  cloudInit: '#cloud-config\npassword: secret-text\n',
  disks: [
    { name: 'vda', sizeBytes: 9 * MIB, usedBytes: null, bus: 'sata' },
    { name: 'Data_1', sizeBytes: 2 * MIB, usedBytes: null, bus: 'virtio' },
  ],
  nics: [{ name: 'nic0', network: 'default', mac: '52:54:00:00:00:01', model: 'virtio' }],
};
const CONTENT = VM.disks.map(({ sizeBytes }, index) => {
  const content = Buffer.alloc(sizeBytes);
  content.fill(`disk ${index} `, MIB, MIB + 4096);
  return content;
});

/** The limits of waits are minutes, which the test reaches at its own time. */
class LimitClock extends HurriedClock {
  private readonly limits = new Set<{ readonly ms: number; readonly callback: () => void }>();

  override after(ms: number, callback: () => void): () => void {
    if (ms < 60_000) return super.after(ms, callback);
    const limit = { ms, callback };
    this.limits.add(limit);
    return () => void this.limits.delete(limit);
  }

  isSet(ms: number): boolean {
    return [...this.limits].some((limit) => limit.ms === ms);
  }

  reach(ms: number): void {
    for (const limit of [...this.limits]) {
      if (limit.ms !== ms) continue;
      this.limits.delete(limit);
      limit.callback();
    }
  }
}

describe('a proof in a cluster', () => {
  let harness: SandboxHarness;
  let proof: BootProof;
  let clock: LimitClock;
  let pictures: Promise<unknown>[];

  const open = async ({ backend, ...options }: SandboxHarnessOptions = {}): Promise<void> => {
    clock = new LimitClock();
    pictures = [];
    const takePicture = async (openScreen: () => Promise<NodeJS.ReadableStream>): Promise<Buffer> => {
      const stream = await openScreen();
      const first = new Promise<Buffer>((resolve) => stream.once('data', resolve));
      pictures.push(first);
      return first;
    };
    harness = await SandboxHarness.open({ ...options, backend: { clock, takePicture, ...backend } as never });
    proof = harness.backend.require('bootProof');
  };
  beforeEach(() => open());
  afterEach(() => harness.close());

  const disksOf = (contents: readonly Buffer[] = CONTENT): ProofDisk[] =>
    VM.disks.map(({ name, sizeBytes }, index) => ({
      name,
      sizeBytes,
      read: async (offset, length) => Buffer.from(contents[index]?.subarray(offset, offset + length) ?? []),
    }));
  const specOf = (more: Partial<BootSpec> = {}): BootSpec => ({
    id: randomUUID(),
    vm: VM,
    disks: disksOf(),
    origin: { kind: 'vm', context: 'prod', namespace: NAMESPACE, name: 'web' },
    timeLimitMs: LIMIT_MS,
    ...more,
  });
  const list = (resource: string): readonly KubeObject[] => harness.sandbox.store.list(resource);
  const named = ({ metadata }: KubeObject): boolean => metadata.name?.includes('headgate-proof') === true;
  const left = (): string[] =>
    [VMS, VMIS, DATA_VOLUMES, CLAIMS, 'pods', 'secrets', 'services']
      .flatMap((resource) => list(resource).filter(named))
      .map(({ kind, metadata }) => `${kind}/${metadata.name}`);
  const until = async (condition: () => boolean): Promise<void> => {
    while (!condition()) await new Promise((resolve) => setImmediate(resolve));
  };
  const target = ({ id }: BootSpec) => ({ namespace: NAMESPACE, name: `headgate-proof-${id}` });
  /** Everything that the cluster had before, to be compared with what it has afterwards. */
  const everything = (): string[] =>
    [VMS, VMIS, DATA_VOLUMES, CLAIMS, 'secrets', 'namespaces']
      .flatMap((resource) => list(resource))
      .map(({ kind, metadata }) => `${kind}/${metadata.name}/${metadata.uid}`);

  test('boots copies of all disks without a network, and removes them with the guest', async () => {
    const before = everything();
    const found: KubeObject[] = [];
    const stop = harness.sandbox.store.subscribe(VMIS, ({ type, object }) => {
      if (type === 'ADDED') found.push(structuredClone(object));
    });
    const volumes: KubeObject[] = [];
    const stopVolumes = harness.sandbox.store.subscribe(DATA_VOLUMES, ({ type, object }) => {
      if (type === 'ADDED') volumes.push(structuredClone(object));
    });
    const copied: number[] = [];
    const spec = specOf({ onCopied: (done, total) => void copied.push(done / total) });
    const outcome = await proof.boot(spec, never);
    stop();
    stopVolumes();
    expect(outcome).toMatchObject({ sign: { kind: expect.stringMatching(/^(agent|prompt)$/) } });
    expect(outcome).not.toHaveProperty('problem');
    expect(outcome).not.toHaveProperty('readBytes');
    expect(outcome.sha256).toEqual(CONTENT.map((content) => createHash('sha256').update(content).digest('hex')));
    expect(outcome.picture?.toString('latin1')).toMatch(/^RFB 003/);
    expect(copied.at(-1)).toBe(1);
    expect([...copied].sort((a, b) => a - b)).toEqual(copied);
    expect(left()).toEqual([]);
    expect(everything()).toEqual(before);

    const [vmi] = found as unknown as [{ spec: Record<string, never>; metadata: KubeObject['metadata'] }];
    expect(found).toHaveLength(1);
    expect(vmi.spec).toMatchObject({
      startStrategy: 'Paused',
      terminationGracePeriodSeconds: 0,
      evictionStrategy: 'None',
      domain: { devices: { autoattachPodInterface: false, logSerialConsole: false } },
    });
    expect(vmi.spec['networks'] ?? []).toEqual([]);
    const { devices } = vmi.spec['domain'] as unknown as { devices: Record<string, object | undefined> };
    const { interfaces = [], hostDevices, gpus, filesystems } = devices;
    expect([interfaces, hostDevices, gpus, filesystems]).toEqual([[], undefined, undefined, undefined]);
    // No label and no secret of the user.
    expect(Object.keys(vmi.metadata.labels ?? {}).filter((name) => !name.includes('kubevirt.io'))).toEqual([
      'svc.dev/proof',
    ]);
    expect(JSON.stringify(found)).not.toContain('secret-text');
    expect(volumes.filter(named).map(({ metadata }) => metadata.ownerReferences)).toEqual([
      [expect.objectContaining({ kind: 'VirtualMachine' })],
      [expect.objectContaining({ kind: 'VirtualMachine' })],
    ]);
  });

  test('has the content of the disks in the copies', async () => {
    const spec = specOf();
    const held = proof.boot(spec, never);
    harness.simulation.faults.inject('boot-hang', target(spec));
    await until(() => clock.isSet(LIMIT_MS));
    for (const [index, content] of CONTENT.entries()) {
      const disk = await harness.simulation.readDisk(NAMESPACE, `${target(spec).name}-disk${index}`);
      expect(disk.equals(content)).toBe(true);
    }
    clock.reach(LIMIT_MS);
    expect(await held).toMatchObject({ problem: expect.stringMatching(/did not boot/) });
  });

  test('ends with a login prompt when the guest has no agent', async () => {
    const spec = specOf();
    harness.simulation.faults.inject('agent-gone', target(spec));
    expect(await proof.boot(spec, never)).toMatchObject({
      sign: { kind: 'prompt', text: expect.stringMatching(/login:$/) },
    });
    expect(left()).toEqual([]);
  });

  test('reads on when another client has taken its console', async () => {
    await harness.close();
    await open({ simulation: { timeScale: 0.05, timings: { guestBoot: 20_000 } } });
    const spec = specOf();
    harness.simulation.faults.inject('agent-gone', target(spec));
    const booting = proof.boot(spec, never);
    await until(() => clock.isSet(LIMIT_MS));
    const ref = { kind: 'vm', context: 'prod', ...target(spec) } as const;
    const { stream } = await harness.backend.require('consoles').openSerial(ref);
    const closed = new Promise((resolve) => stream.on('error', () => undefined).once('end', resolve));
    stream.resume();
    expect(await booting).toMatchObject({ sign: { kind: 'prompt' } });
    await closed;
    expect(left()).toEqual([]);
  });

  test.each([
    ['boot-power-off', /has powered off before it was up/],
    ['boot-crash', /has crashed before it was up/],
  ] as const)('says that the guest has not booted after %s', async (fault, problem) => {
    const spec = specOf();
    harness.simulation.faults.inject(fault, target(spec));
    const outcome = await proof.boot(spec, never);
    expect(outcome).toMatchObject({ problem: expect.stringMatching(problem) });
    expect(outcome).not.toHaveProperty('sign');
    expect(left()).toEqual([]);
  });

  test('says that the guest has not booted in time, and takes a picture of it', async () => {
    const spec = specOf({ timeLimitMs: 90_000 });
    harness.simulation.faults.inject('boot-hang', target(spec));
    const booting = proof.boot(spec, never);
    await until(() => clock.isSet(90_000));
    clock.reach(90_000);
    const outcome = await booting;
    expect(outcome.problem).toBe('The guest did not boot: 90 s for its agent or a login prompt are over.');
    expect(outcome.picture).toBeDefined();
    expect(left()).toEqual([]);
  });

  test('says nothing about the backup when no node has room, and gives the reason of the scheduler', async () => {
    const spec = specOf();
    harness.simulation.faults.inject('unschedulable', target(spec));
    const booting = proof.boot(spec, never);
    const refused = expect(booting).rejects.toMatchObject({
      code: 'BACKEND_TIMEOUT',
      message: expect.stringMatching(/^The cluster did not start the VM of the proof in 10 minutes: .*nodes? .*\.$/),
    });
    await until(() =>
      list(VMIS).some((vmi) => JSON.stringify((vmi as { status?: object }).status ?? {}).includes('Unschedulable')),
    );
    // The watch of the adapter sees it after the store.
    for (let turn = 0; turn < 200; turn++) await new Promise(setImmediate);
    clock.reach(10 * 60_000);
    await refused;
    expect(left()).toEqual([]);
  });

  test('says nothing about the backup when others delete its pod', async () => {
    const evicted = specOf();
    harness.simulation.faults.inject('boot-hang', target(evicted));
    const first = proof.boot(evicted, never);
    const failed = expect(first).rejects.toMatchObject({ code: expect.stringMatching(/^(BACKEND_FAILED|CONFLICT)$/) });
    await until(() => clock.isSet(LIMIT_MS));
    const pod = list('pods').find(({ metadata }) => metadata.name?.startsWith('virt-launcher-headgate-proof'));
    harness.sandbox.store.delete('pods', { namespace: NAMESPACE, name: pod?.metadata.name ?? '' });
    await failed;
    expect(left()).toEqual([]);
  });

  test('says nothing about the backup when others delete its VM', async () => {
    const deleted = specOf();
    harness.simulation.faults.inject('boot-hang', target(deleted));
    const second = proof.boot(deleted, never);
    const gone = expect(second).rejects.toMatchObject({ code: 'CONFLICT' });
    await until(() => clock.isSet(LIMIT_MS));
    harness.sandbox.store.delete(VMS, target(deleted));
    await gone;
    expect(left()).toEqual([]);
  });

  test('says nothing about the backup when the cluster does not answer at the end of its time', async () => {
    const spec = specOf();
    harness.simulation.faults.inject('boot-hang', target(spec));
    const booting = proof.boot(spec, never);
    const failed = expect(booting).rejects.toMatchObject({ code: expect.stringMatching(/^(BUSY|BACKEND_)/) });
    await until(() => clock.isSet(LIMIT_MS));
    harness.sandbox.faults.overload({ verb: 'get', resource: VMIS });
    clock.reach(LIMIT_MS);
    await failed;
    expect(left()).toEqual([]);
  });

  test('fails a backup with a disk that is damaged or short, and boots nothing', async () => {
    const starts: unknown[] = [];
    const stop = harness.sandbox.store.subscribe(VMIS, (event) => void starts.push(event));
    const [first, second] = disksOf();
    if (!first || !second) throw new Error('There are two disks.');
    const damaged: ProofDisk = {
      ...second,
      read: async (offset, length) => {
        if (offset + length > MIB) throw new Error('blob 1234 is damaged');
        return Buffer.alloc(length);
      },
    };
    expect(await proof.boot(specOf({ disks: [first, damaged] }), never)).toEqual({
      bootMs: 0,
      problem: "The disk Data_1 of the backup can't be read: blob 1234 is damaged",
    });
    const short: ProofDisk = { ...first, read: async () => Buffer.alloc(5) };
    expect((await proof.boot(specOf({ disks: [short, second] }), never)).problem).toMatch(/ends after 5 of 9437184/);
    stop();
    expect(starts).toEqual([]);
    expect(left()).toEqual([]);
  });

  test('says nothing about the backup when a disk can not be uploaded', async () => {
    const spec = specOf();
    harness.simulation.faults.inject('upload-not-ready', { namespace: NAMESPACE, name: `${target(spec).name}-disk1` });
    const booting = proof.boot(spec, never);
    const refused = expect(booting).rejects.toMatchObject({
      code: 'BACKEND_TIMEOUT',
      message: expect.stringContaining('did not become UploadReady'),
    });
    await until(() => list(DATA_VOLUMES).some(({ metadata }) => metadata.name === `${target(spec).name}-disk1`));
    while (left().length > 0) {
      // The first disk has had its limit as well.
      clock.reach(5 * 60_000);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    await refused;
  });

  test.each<[string, (spec: BootSpec) => boolean]>([
    ['its VM exists', ({ id }) => list(VMS).some(({ metadata }) => metadata.labels?.['svc.dev/proof'] === id)],
    ['a volume exists', () => list(DATA_VOLUMES).some(named)],
    ['a disk was copied', () => list(CLAIMS).filter(named).length > 1],
    ['its guest starts', () => list(VMIS).some(named)],
    ['its guest boots', () => clock.isSet(LIMIT_MS)],
  ])('leaves nothing when it is canceled after %s', async (_name, isReached) => {
    const before = everything();
    const cancel = new AbortController();
    const spec = specOf();
    harness.simulation.faults.inject('boot-hang', target(spec));
    const booting = proof.boot(spec, cancel.signal);
    const canceled = expect(booting).rejects.toThrow('no longer wanted');
    await until(() => isReached(spec));
    cancel.abort(new Error('no longer wanted'));
    await canceled;
    expect(left()).toEqual([]);
    expect(everything()).toEqual(before);
  });

  test('leaves nothing when the service stops', async () => {
    const spec = specOf();
    harness.simulation.faults.inject('boot-hang', target(spec));
    const booting = proof.boot(spec, never);
    const stopped = expect(booting).rejects.toMatchObject({ code: 'SHUTTING_DOWN' });
    await until(() => clock.isSet(LIMIT_MS));
    await harness.backend.close();
    await stopped;
    expect(left()).toEqual([]);
  });

  test('is in no list, and is no user of a volume or a node', async () => {
    const spec = specOf();
    harness.simulation.faults.inject('boot-hang', target(spec));
    const cancel = new AbortController();
    const booting = proof.boot(spec, cancel.signal);
    const canceled = expect(booting).rejects.toThrow('seen');
    await until(() => clock.isSet(LIMIT_MS));
    const copied = { ...target(spec), name: 'web' };
    harness.sandbox.store.create(VMS, {
      apiVersion: 'kubevirt.io/v1',
      kind: 'VirtualMachine',
      metadata: { ...copied, labels: { 'svc.dev/proof': spec.id }, annotations: { 'svc.dev/proof-beat': '0' } },
      spec: { runStrategy: 'Halted', template: { spec: { domain: { devices: {} } } } },
    } as never);
    // A VM of the user with the copied label and annotation is a VM like any other.
    await harness.recorder.until(() => [...harness.recorder.instances.keys()].some((ref) => ref.endsWith('/web')));
    expect([...harness.recorder.instances.keys()].filter((ref) => ref.includes('headgate-proof'))).toEqual([]);
    expect(JSON.stringify(await harness.backend.require('cluster').storages())).not.toContain('headgate-proof');
    const [vmi] = list(VMIS).filter(named) as unknown as { status: { nodeName: string } }[];
    const drain = await harness.backend.require('nodeScheduling').drainOf(vmi?.status.nodeName ?? '');
    expect(JSON.stringify(drain)).not.toContain('headgate-proof');
    cancel.abort(new Error('seen'));
    await canceled;
    expect(left()).toEqual([]);
    expect(list(VMS).map(({ metadata }) => metadata.name)).toContain('web');
  });

  test('runs with another at the same time, and a third one is refused', async () => {
    const cancel = new AbortController();
    const specs = [specOf(), specOf()];
    const booting = specs.map((spec) => {
      harness.simulation.faults.inject('boot-hang', target(spec));
      return proof.boot(spec, cancel.signal).catch((error: Error) => error.message);
    });
    const { refusals } = await proof.plan(specOf());
    expect(refusals).toMatchObject([{ code: 'BUSY', reason: 'prod has 2 proofs of backups already.' }]);
    await expect(proof.boot(specOf(), never)).rejects.toMatchObject({ code: 'BUSY' });
    cancel.abort(new Error('enough'));
    expect(await Promise.all(booting)).toEqual(['enough', 'enough']);
    expect(left()).toEqual([]);
  });

  test('works while requests fail and connections are reset', async () => {
    await harness.close();
    await open({ disturbed: { hoursAhead: 1 } });
    // The clock of the harness hurries in such a cluster.
    const outcome = await proof.boot(specOf(), never);
    expect(outcome.sign).toBeDefined();
    expect(left()).toEqual([]);
  });
});
