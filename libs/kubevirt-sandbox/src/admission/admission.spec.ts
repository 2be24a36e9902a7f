import { ApiError } from '@headgate/kube-sandbox';
import { RESOURCES } from '../resources.js';
import type { DataVolume } from '../types/data-volume.js';
import type { VirtualMachine } from '../types/virtual-machine.js';
import { buildVirtualMachine, simulatedCluster } from '../testing/simulated-cluster.js';

const PREFIX = 'admission webhook "virtualmachine-validator.kubevirt.io" denied the request: ';

function refusalOf(act: () => unknown): ApiError {
  try {
    act();
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

describe('admission of virtual machines', () => {
  type Change = (vm: VirtualMachine) => void;
  const template = (vm: VirtualMachine) => vm.spec.template.spec;

  test.each<[string, Change, string]>([
    [
      'running and runStrategy',
      (vm) => (vm.spec.running = true),
      'Running and RunStrategy are mutually exclusive. Note that Running is deprecated, please use RunStrategy instead',
    ],
    ['neither of them', (vm) => delete vm.spec.runStrategy, 'RunStrategy must be specified'],
    ['an unknown runStrategy', (vm) => (vm.spec.runStrategy = 'Often' as 'Always'), 'Invalid RunStrategy (Often)'],
    [
      'two volumes with the same name',
      (vm) => template(vm).volumes!.push({ name: 'root', emptyDisk: { capacity: '1Gi' } }),
      'spec.template.spec.volumes[1] and spec.template.spec.volumes[0] must not have the same Name.',
    ],
    [
      'a volume without a source',
      (vm) => template(vm).volumes!.push({ name: 'x' }),
      'spec.template.spec.volumes[1] must have exactly one source type set',
    ],
    [
      'a disk without a volume',
      (vm) => template(vm).domain.devices.disks!.push({ name: 'x', disk: {} }),
      "spec.template.spec.domain.devices.disks[1].Name 'x' not found.",
    ],
    [
      'a virtio CD-ROM',
      (vm) => (template(vm).domain.devices.disks![0] = { name: 'root', cdrom: { bus: 'virtio' } }),
      'Bus type virtio is invalid for CD-ROM device',
    ],
    [
      'long cloud-init',
      (vm) => template(vm).volumes!.push({ name: 'ci', cloudInitNoCloud: { userData: 'x'.repeat(2049) } }),
      'spec.template.spec.volumes[1].cloudInitNoCloud userdata exceeds 2048 byte limit. Should use UserDataSecretRef for larger data.',
    ],
    [
      'tiny memory',
      (vm) => (template(vm).domain.resources = { requests: { memory: '1k' } }),
      "spec.template.spec.domain.resources.requests.memory '1k': must be greater than or equal to 1M.",
    ],
    [
      'an unused template',
      (vm) =>
        (vm.spec.dataVolumeTemplates = [{ metadata: { name: 'd' }, spec: { source: { blank: {} }, storage: {} } }]),
      "DataVolumeTemplate entry spec.dataVolumeTemplate[0] must be referenced in the VMI template's 'volumes' list",
    ],
    [
      'an interface without a network',
      (vm) => template(vm).domain.devices.interfaces!.push({ name: 'x', bridge: {} }),
      "spec.template.spec.domain.devices.interfaces[1].name 'x' not found.",
    ],
    [
      'cores together with an instancetype',
      (vm) => (
        (vm.spec.instancetype = { name: 'u1.small' }),
        (template(vm).domain = { cpu: { cores: 2 }, devices: {} }),
        (template(vm).networks = []),
        (template(vm).volumes = [])
      ),
      'VM field(s) spec.template.spec.domain.cpu.cores conflicts with selected instance type',
    ],
    [
      'a reserved label',
      (vm) => (vm.spec.template.metadata = { labels: { 'kubevirt.io/nodeName': 'n' } }),
      'creation of the following reserved kubevirt.io/ labels on a VMI object is prohibited',
    ],
    [
      'another machine',
      (vm) => (template(vm).domain.machine = { type: 'isapc' }),
      'spec.template.spec.domain.machine.type is not supported: isapc (allowed values: [q35* pc-q35*])',
    ],
  ])('refuses %s with 422 and the words of KubeVirt', (_what, change, message) => {
    const { create } = simulatedCluster();
    const vm = buildVirtualMachine('web');
    change(vm);
    const refusal = refusalOf(() => create(vm));
    expect(refusal).toMatchObject({ code: 422, reason: 'Invalid', message: `${PREFIX}${message}` });
    expect(refusal.status.details?.causes).toHaveLength(1);
  });

  test('fills in a missing firmware, architecture, machine and disks', () => {
    const { create } = simulatedCluster();
    const vm = buildVirtualMachine('web');
    delete template(vm).domain.devices.disks;
    const { spec } = create(vm).spec.template;
    expect(spec).toMatchObject({ architecture: 'amd64', domain: { machine: { type: 'q35' }, resources: {} } });
    expect(spec.domain.firmware?.uuid).toMatch(/^[0-9a-f]{8}-/);
    expect(spec.domain.devices.disks).toEqual([{ name: 'root', disk: { bus: 'virtio' } }]);
  });

  test('accepts a missing instancetype and reports it later', () => {
    const { clock, create, vm, eventReasons } = simulatedCluster();
    const machine = buildVirtualMachine('web', { instancetype: { name: 'no-such' } });
    template(machine).domain = { devices: {} };
    template(machine).networks = [];
    template(machine).volumes = [];
    create(machine);
    clock.advance(5_000);
    expect(vm('web')?.status?.conditions).toContainEqual(
      expect.objectContaining({ type: 'Failure', reason: 'FailedCreate' }),
    );
    expect(eventReasons('VirtualMachine', 'web')).toContain('FailedCreate');
  });

  test('refuses a DataVolume with 422, no reason and a doubled blank', () => {
    const { create, store } = simulatedCluster();
    const dataVolume: DataVolume = {
      apiVersion: 'cdi.kubevirt.io/v1beta1',
      kind: 'DataVolume',
      metadata: { name: 'd', namespace: 'tailvm' },
      spec: { source: { blank: {} }, storage: {} },
    };
    const refusal = refusalOf(() => create(dataVolume));
    expect(refusal).toMatchObject({
      code: 422,
      message: 'admission webhook "datavolume-validate.cdi.kubevirt.io" denied the request:  Storage size is missing',
    });
    expect(refusal.reason).toBeUndefined();
    expect(store.count(RESOURCES.dataVolume)).toBe(0);
  });
});
