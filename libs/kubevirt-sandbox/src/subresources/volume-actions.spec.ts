import { RESOURCES } from '../resources.js';
import type { KubevirtVersion } from '../kubevirt-version.js';
import { listeningCluster } from '../testing/listening-cluster.js';
import { findCondition } from '../types/condition.js';
import type { VirtualMachineInstance } from '../types/virtual-machine-instance.js';
import type { VirtualMachine } from '../types/virtual-machine.js';

type Cluster = Awaited<ReturnType<typeof listeningCluster>>;
type Mode = 'off' | 'imperative' | 'declarative';

const WEB = { namespace: 'tailvm', name: 'web' };
const DENIED = 'admission webhook "virtualmachine-validator.kubevirt.io" denied the request: ';
const claim = (name: string) => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name },
  spec: { accessModes: ['ReadWriteMany'], resources: { requests: { storage: '5Gi' } } },
});
const options = (extra: object = {}) => ({
  name: 'data',
  disk: { name: 'data', disk: { bus: 'scsi' } },
  volumeSource: { persistentVolumeClaim: { claimName: 'data' } },
  ...extra,
});
const withDisk = (disk: object) => options({ disk: { name: 'data', ...disk } });

let cluster: Cluster;

afterEach(() => cluster.close());

async function open(kubevirtVersion: KubevirtVersion, featureGates?: string[]): Promise<void> {
  cluster = await listeningCluster({ kubevirtVersion, ...(featureGates ? { cluster: { featureGates } } : {}) });
  cluster.simulation.seedVm({ name: 'web' });
  await cluster.call('POST', '/api/v1/namespaces/tailvm/persistentvolumeclaims', claim('data'));
  cluster.clock.advance(5_000);
}

const add = (body: unknown) => cluster.act('virtualmachines', 'web', 'addvolume', body);
const remove = (body: unknown) => cluster.act('virtualmachines', 'web', 'removevolume', body);
const vm = () => cluster.sandbox.store.require<VirtualMachine>(RESOURCES.vm, WEB);
const vmi = () => cluster.sandbox.store.require<VirtualMachineInstance>(RESOURCES.vmi, WEB);
const failure = () => findCondition(vm().status?.conditions, 'Failure');
const volumesOf = ({ spec }: VirtualMachine) => spec.template.spec.volumes?.map(({ name }) => name);

describe('the gates of hotplug', () => {
  test.each<[KubevirtVersion, string[] | undefined, Mode]>([
    ['1.3', [], 'off'],
    ['1.3', ['HotplugVolumes'], 'imperative'],
    ['1.5', [], 'off'],
    ['1.5', ['DeclarativeHotplugVolumes'], 'off'],
    ['1.5', ['HotplugVolumes'], 'imperative'],
    ['1.6.5', [], 'off'],
    ['1.6.5', ['DeclarativeHotplugVolumes'], 'declarative'],
    ['1.6.5', ['HotplugVolumes', 'DeclarativeHotplugVolumes'], 'imperative'],
    ['1.8', [], 'off'],
    ['1.8', ['HotplugVolumes'], 'imperative'],
    ['1.9', undefined, 'declarative'],
    ['1.9', ['HotplugVolumes'], 'imperative'],
  ])('KubeVirt %s with %j: %s', async (version, gates, mode) => {
    await open(version, gates);
    const answer = await add(options());
    if (mode === 'off') {
      const modern = ['1.6.5', '1.8'].includes(version);
      expect(answer.json).toMatchObject({
        code: 400,
        message: modern
          ? 'Enable DeclarativeHotplugVolumes or HotplugVolumes feature gate to use this API.'
          : 'Unable to Add Volume because HotplugVolumes feature gate is not enabled.',
      });
      expect((await remove({ name: 'root' })).json?.['message']).toContain('feature gate');
      expect(volumesOf(vm())).toEqual(['root']);
      return;
    }
    expect(answer.status).toBe(202);
    expect(vm().status?.volumeRequests?.length ?? 0).toBe(mode === 'imperative' ? 1 : 0);
    expect(volumesOf(vm())).toEqual(mode === 'imperative' ? ['root'] : ['root', 'data']);
    cluster.clock.advance(20_000);
    expect(volumesOf(vm())).toEqual(['root', 'data']);
    expect(vmi().status?.volumeStatus).toContainEqual(expect.objectContaining({ name: 'data', phase: 'Ready' }));
    expect((await remove({ name: 'data' })).status).toBe(202);
    cluster.clock.advance(20_000);
    expect(volumesOf(vm())).toEqual(['root']);
    expect(vmi().spec.volumes?.map(({ name }) => name)).toEqual(['root']);
    expect(vm().status?.conditions?.map(({ type }) => type)).not.toContain('RestartRequired');
  });
});

describe('addvolume and removevolume', () => {
  test.each<[string, unknown, string]>([
    ['no body', undefined, 'Request with no body, a new name is expected as the request body'],
    ['no name', options({ name: '' }), 'AddVolumeOptions requires name to be set'],
    ['no disk', options({ disk: null }), 'AddVolumeOptions requires disk to not be nil'],
    ['no source', options({ volumeSource: null }), 'AddVolumeOptions requires VolumeSource to not be nil'],
  ])('refuse options with %s', async (_what, body, message) => {
    await open('1.9');
    expect((await add(body)).json).toMatchObject({ code: 400, message });
  });

  test('refuse options of removevolume without a name', async () => {
    await open('1.9');
    expect((await remove({})).json).toMatchObject({
      code: 400,
      message: 'RemoveVolumeOptions requires name to be set',
    });
  });

  test.each<[string, object, string]>([
    ['name', options({ name: 'root' }), 'Unable to add volume [root] because volume with that name already exists'],
    [
      'claim',
      options({ volumeSource: { dataVolume: { name: 'web-root' } } }),
      'Unable to add volume source [web-root] because it already exists',
    ],
  ])('refuse a %s that the VM has', async (_what, body, message) => {
    await open('1.9');
    expect((await add(body)).json).toMatchObject({ code: 409, message: expect.stringContaining(message) });
  });

  test('refuse a second request while the first one is pending', async () => {
    await open('1.8');
    expect((await add(options())).status).toBe(202);
    expect((await add(options())).json).toMatchObject({
      code: 409,
      message: expect.stringContaining('add volume request for volume [data] already exists'),
    });
  });

  test.each<[string, string, string]>([
    ['an unknown volume', 'other', 'Unable to remove volume [other] because it does not exist'],
    ['the boot disk', 'root', 'Unable to remove volume [root] because it is not hotpluggable'],
  ])('refuse to remove %s', async (_what, name, message) => {
    await open('1.9');
    expect((await remove({ name })).json).toMatchObject({ code: 409, message: expect.stringContaining(message) });
  });

  test('change nothing in a dry run', async () => {
    await open('1.9');
    const before = vm();
    expect((await add(options({ dryRun: ['All'] }))).status).toBe(202);
    expect(vm()).toBe(before);
  });

  test('of a VMI that belongs to a VM are refused by the declarative gate', async () => {
    await open('1.9');
    expect((await cluster.act('virtualmachineinstances', 'web', 'addvolume', options())).json).toMatchObject({
      code: 400,
      message: 'VMI tailvm/web is owned by a VM',
    });
  });

  test('of a VMI last until its end with the gate of the requests', async () => {
    await open('1.8');
    expect((await cluster.act('virtualmachineinstances', 'web', 'addvolume', options())).status).toBe(202);
    cluster.clock.advance(20_000);
    expect(vmi().status?.volumeStatus).toContainEqual(expect.objectContaining({ name: 'data', phase: 'Ready' }));
    expect(volumesOf(vm())).toEqual(['root']);
  });
});

const BAD_DISKS: [string, object, string][] = [
  [
    'sata',
    withDisk({ disk: { bus: 'sata' } }),
    "for disk [data] requires bus to be 'scsi' or 'virtio'. [sata] is not permitted.",
  ],
  [
    'a virtio LUN',
    withDisk({ lun: { bus: 'virtio' } }),
    "for LUN [data] requires bus to be 'scsi'. [virtio] is not permitted.",
  ],
  [
    'a CD-ROM',
    withDisk({ cdrom: { bus: 'scsi' } }),
    "for [data] requires diskDevice of type 'disk' or 'lun' to be used.",
  ],
];

describe('a disk that can not be plugged', () => {
  test.each(BAD_DISKS)('is refused where requests are recorded: %s', async (_what, body, message) => {
    await open('1.8');
    const text = `AddVolume request ${message}`;
    expect((await add(body)).json).toMatchObject({
      code: 422,
      reason: 'Invalid',
      message: `${DENIED}${text}`,
      details: { causes: [{ reason: 'FieldValueInvalid', field: 'Status.volumeRequests', message: text }] },
    });
  });

  test.each([
    ['sata', "AddVolume request for [data] requires disk bus to be 'scsi'. [sata] is not permitted"],
    ['virtio', "AddVolume request for [data] requires disk bus to be 'scsi'. [virtio] is not permitted"],
  ])('is refused in the words of 1.5: %s', async (bus, message) => {
    await open('1.5');
    expect((await add(withDisk({ disk: { bus } }))).json).toMatchObject({ code: 422, message: `${DENIED}${message}` });
  });

  test.each(BAD_DISKS)('is accepted by 1.9, and fails later: %s', async (_what, body, message) => {
    await open('1.9');
    expect((await add(body)).status).toBe(202);
    expect(volumesOf(vm())).toEqual(['root', 'data']);
    cluster.clock.advance(20_000);
    expect(failure()).toMatchObject({
      status: 'True',
      reason: 'HotPlugVolumeError',
      message: expect.stringContaining(message),
    });
    expect(vmi().spec.volumes).toHaveLength(1);
    expect((await remove({ name: 'data' })).status).toBe(202);
    cluster.clock.advance(5_000);
    expect(failure()).toBeUndefined();
  });

  test.each(['1.8', '1.9'] as const)('is refused without a source by KubeVirt %s', async (version) => {
    await open(version);
    const message = 'spec.template.spec.volumes[1] must have exactly one source type set';
    expect((await add(options({ volumeSource: {} }))).json).toMatchObject({
      code: 422,
      message: expect.stringContaining(message),
    });
  });
});

describe('during a migration', () => {
  const migrate = async () => {
    await cluster.act('virtualmachines', 'web', 'migrate');
    cluster.clock.advance(8_000);
    expect(vm().status?.printableStatus).toBe('Migrating');
  };
  const message = 'Cannot handle volume requests while VMI migration is in progress';

  test('1.8 refuses to plug a disk', async () => {
    await open('1.8');
    await migrate();
    expect((await add(options())).json).toMatchObject({
      code: 422,
      details: { causes: [{ reason: 'FieldValueNotSupported', field: 'spec', message }] },
    });
  });

  test('1.9 plugs it afterwards', async () => {
    await open('1.9');
    await migrate();
    expect((await add(options())).status).toBe(202);
    cluster.clock.advance(200);
    expect(failure()).toMatchObject({ reason: 'HotPlugVolumeError', message: expect.stringContaining(message) });
    cluster.clock.advance(120_000);
    expect(failure()).toBeUndefined();
    expect(vmi().status?.volumeStatus).toContainEqual(expect.objectContaining({ name: 'data', phase: 'Ready' }));
  });
});
