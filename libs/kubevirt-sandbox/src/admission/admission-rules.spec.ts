import { ApiError, type StatusCause } from '@headgate/kube-sandbox';
import { listeningCluster } from '../testing/listening-cluster.js';
import { buildVirtualMachine, simulatedCluster } from '../testing/simulated-cluster.js';
import type { VirtualMachineInstance } from '../types/virtual-machine-instance.js';
import type { VirtualMachine } from '../types/virtual-machine.js';
import type { KubeVirt } from '../types/kubevirt-kinds.js';
import { RESOURCES } from '../resources.js';

const T = 'spec.template.spec';
const DISKS = `${T}.domain.devices.disks`;
const NICS = `${T}.domain.devices.interfaces`;

const spec = (vm: VirtualMachine) => vm.spec.template.spec;
const devices = (vm: VirtualMachine) => spec(vm).domain.devices;
const addVolume = (vm: VirtualMachine, volume: Record<string, unknown>): void =>
  void spec(vm).volumes!.push(volume as never);
const cloudInit = (vm: VirtualMachine, source: Record<string, string>): void =>
  addVolume(vm, { name: 'ci', cloudInitNoCloud: source });
const dataVolume = (vm: VirtualMachine, content: Record<string, unknown>, namespace?: string): void => {
  vm.spec.dataVolumeTemplates = [
    { metadata: { name: 'd', ...(namespace ? { namespace } : {}) }, spec: content as never },
  ];
  addVolume(vm, { name: 'd', dataVolume: { name: 'd' } });
};
const withInstancetype = (vm: VirtualMachine, domain: object): void => {
  vm.spec.instancetype = { name: 'u1.small' };
  Object.assign(spec(vm), { domain: { devices: {}, ...domain }, networks: [], volumes: [] });
};
const storage = { resources: { requests: { storage: '1Gi' } } };

type Rule = [what: string, change: (vm: VirtualMachine) => unknown, cause: StatusCause];

const cause = (reason: string, field: string, message: string): StatusCause => ({ reason, message, field });
const invalid = (field: string, message: string): StatusCause => cause('FieldValueInvalid', field, message);
const required = (field: string, message: string): StatusCause => cause('FieldValueRequired', field, message);
const duplicate = (field: string, message: string): StatusCause => cause('FieldValueDuplicate', field, message);
const unsupported = (field: string, message: string): StatusCause => cause('FieldValueNotSupported', field, message);
const notFound = (field: string, message: string): StatusCause => cause('FieldValueNotFound', field, message);

const RUNNING: Rule[] = [
  [
    'running and runStrategy',
    (vm) => (vm.spec.running = true),
    invalid(
      'spec.running',
      'Running and RunStrategy are mutually exclusive. Note that Running is deprecated, please use RunStrategy instead',
    ),
  ],
  [
    'neither running nor runStrategy',
    (vm) => delete vm.spec.runStrategy,
    invalid('spec.running', 'RunStrategy must be specified'),
  ],
  [
    'an unknown runStrategy',
    (vm) => (vm.spec.runStrategy = 'Often' as never),
    invalid('spec.runStrategy', 'Invalid RunStrategy (Often)'),
  ],
  [
    'an unknown evictionStrategy',
    (vm) => (spec(vm).evictionStrategy = 'Teleport'),
    invalid(`${T}.evictionStrategy`, `${T}.evictionStrategy is set with an unrecognized option: Teleport`),
  ],
  [
    'a reserved label',
    (vm) => (vm.spec.template.metadata = { labels: { 'kubevirt.io/nodeName': 'n' } }),
    unsupported(
      'spec.template.metadata.labels',
      'creation of the following reserved kubevirt.io/ labels on a VMI object is prohibited',
    ),
  ],
  [
    'another machine type',
    (vm) => (spec(vm).domain.machine = { type: 'isapc' }),
    invalid(
      `${T}.domain.machine.type`,
      `${T}.domain.machine.type is not supported: isapc (allowed values: [q35* pc-q35*])`,
    ),
  ],
];

const VOLUMES: Rule[] = [
  [
    'two volumes with the same name',
    (vm) => addVolume(vm, { name: 'root', emptyDisk: { capacity: '1Gi' } }),
    invalid(`${T}.volumes[1].name`, `${T}.volumes[1] and ${T}.volumes[0] must not have the same Name.`),
  ],
  [
    'a volume without a source',
    (vm) => addVolume(vm, { name: 'x' }),
    invalid(`${T}.volumes[1]`, `${T}.volumes[1] must have exactly one source type set`),
  ],
  [
    'a volume with two sources',
    (vm) => addVolume(vm, { name: 'x', emptyDisk: { capacity: '1Gi' }, dataVolume: { name: 'd' } }),
    invalid(`${T}.volumes[1]`, `${T}.volumes[1] must have exactly one source type set`),
  ],
  [
    'a DataVolume without a name',
    (vm) => addVolume(vm, { name: 'x', dataVolume: { name: '' } }),
    required(`${T}.volumes[1].name`, "DataVolume 'name' must be set"),
  ],
  [
    'a host disk without its feature gate',
    (vm) => addVolume(vm, { name: 'x', hostDisk: { path: '/disk.img', type: 'Disk' } }),
    invalid(`${T}.volumes[1]`, 'HostDisk feature gate is not enabled'),
  ],
  [
    'large user data',
    (vm) => cloudInit(vm, { userData: 'x'.repeat(2049) }),
    invalid(
      `${T}.volumes[1].cloudInitNoCloud`,
      `${T}.volumes[1].cloudInitNoCloud userdata exceeds 2048 byte limit. Should use UserDataSecretRef for larger data.`,
    ),
  ],
  [
    'large network data',
    (vm) => cloudInit(vm, { networkData: 'x'.repeat(2049) }),
    invalid(
      `${T}.volumes[1].cloudInitNoCloud`,
      `${T}.volumes[1].cloudInitNoCloud networkdata exceeds 2048 byte limit. Should use NetworkDataSecretRef for larger data.`,
    ),
  ],
  [
    'two sources of user data',
    (vm) => cloudInit(vm, { userData: 'a', userDataBase64: 'YQ==' }),
    invalid(
      `${T}.volumes[1].cloudInitNoCloud`,
      `${T}.volumes[1].cloudInitNoCloud must have only one userdatasource set.`,
    ),
  ],
  [
    'cloud-init without data',
    (vm) => cloudInit(vm, {}),
    invalid(
      `${T}.volumes[1].cloudInitNoCloud`,
      `${T}.volumes[1].cloudInitNoCloud must have at least one userdatasource or one networkdatasource set.`,
    ),
  ],
  [
    'user data that is not base64',
    (vm) => cloudInit(vm, { userDataBase64: '%%%' }),
    invalid(
      `${T}.volumes[1].cloudInitNoCloud.userDataBase64`,
      `${T}.volumes[1].cloudInitNoCloud.userDataBase64.cloudInitNoCloud.userDataBase64 is not a valid base64 value.`,
    ),
  ],
];

const DISK_RULES: Rule[] = [
  [
    'a disk without a volume',
    (vm) => devices(vm).disks!.push({ name: 'x', disk: {} }),
    invalid(`${DISKS}[1].name`, `${DISKS}[1].Name 'x' not found.`),
  ],
  [
    'two disks with the same name',
    (vm) => devices(vm).disks!.push({ name: 'root', disk: {} }),
    invalid(`${DISKS}[1].name`, `${DISKS}[1] and ${DISKS}[0] must not have the same Name.`),
  ],
  [
    'a disk whose name is not a DNS label',
    (vm) => {
      devices(vm).disks![0]!.name = 'Root';
      spec(vm).volumes![0]!.name = 'Root';
    },
    invalid(
      `${DISKS}[0].name`,
      "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
    ),
  ],
  [
    'an IDE disk',
    (vm) => (devices(vm).disks![0]!.disk = { bus: 'ide' }),
    invalid(`${DISKS}[0].disk.bus`, 'IDE bus is not supported'),
  ],
  [
    'an unknown bus',
    (vm) => (devices(vm).disks![0]!.disk = { bus: 'floppy' }),
    invalid(
      `${DISKS}[0].disk.bus`,
      `${DISKS}[0] is set with an unrecognized bus floppy, must be one of: [virtio scsi sata usb]`,
    ),
  ],
  [
    'a virtio CD-ROM',
    (vm) => (devices(vm).disks![0] = { name: 'root', cdrom: { bus: 'virtio' } }),
    invalid(`${DISKS}[0].cdrom.bus`, 'Bus type virtio is invalid for CD-ROM device'),
  ],
  [
    'a SATA CD-ROM on arm64',
    (vm) => {
      spec(vm).architecture = 'arm64';
      devices(vm).disks![0] = { name: 'root', cdrom: { bus: 'sata' } };
    },
    unsupported(`${DISKS}[0].cdrom.bus`, 'Arm64 not support this disk bus type, please use virtio or scsi'),
  ],
];

const SIZES: Rule[] = [
  [
    'too little memory',
    (vm) => (spec(vm).domain.resources = { requests: { memory: '1k' } }),
    invalid(
      `${T}.domain.resources.requests.memory`,
      `${T}.domain.resources.requests.memory '1k': must be greater than or equal to 1M.`,
    ),
  ],
  [
    'more guest memory than maxGuest',
    (vm) => (spec(vm).domain.memory = { guest: '4Gi', maxGuest: '2Gi' }),
    invalid(`${T}.domain.memory.guest`, 'Guest memory is greater than the configured maxGuest memory'),
  ],
  [
    'unaligned guest memory with maxGuest',
    (vm) => (spec(vm).domain.memory = { guest: '2049Mi', maxGuest: '8Gi' }),
    invalid(`${T}.domain.memory.guest`, 'Guest memory must be 2Mi aligned'),
  ],
  [
    'unaligned maxGuest',
    (vm) => (spec(vm).domain.memory = { guest: '2Gi', maxGuest: '8193Mi' }),
    invalid(`${T}.domain.memory.guest`, 'MaxGuest must be 2Mi aligned'),
  ],
  [
    'a small guest with maxGuest',
    (vm) => (spec(vm).domain.memory = { guest: '512Mi', maxGuest: '2Gi' }),
    invalid(`${T}.domain.memory.guest`, 'Memory hotplug is only available for VMs with at least 1Gi of guest memory'),
  ],
];

const TEMPLATES: Rule[] = [
  [
    'an unused template',
    (vm) => (vm.spec.dataVolumeTemplates = [{ metadata: { name: 'd' }, spec: { source: { blank: {} }, storage: {} } }]),
    required(
      'spec.dataVolumeTemplate[0]',
      "DataVolumeTemplate entry spec.dataVolumeTemplate[0] must be referenced in the VMI template's 'volumes' list",
    ),
  ],
  [
    'a template without storage',
    (vm) => dataVolume(vm, { source: { blank: {} } }),
    invalid('spec.dataVolumeTemplates[0]', 'Missing Data volume PVC or Storage'),
  ],
  [
    'a template with storage and pvc',
    (vm) => dataVolume(vm, { source: { blank: {} }, storage, pvc: storage }),
    invalid('spec.dataVolumeTemplates[0]', 'Duplicate storage definition, both target storage and target pvc defined'),
  ],
  [
    'a template without a source',
    (vm) => dataVolume(vm, { storage }),
    invalid(
      'spec.dataVolumeTemplates[0]',
      'Data volume should have either Source, SourceRef, or be externally populated',
    ),
  ],
  [
    'a template with two sources',
    (vm) => dataVolume(vm, { storage, source: { blank: {}, http: { url: 'https://images.example/x' } } }),
    invalid('spec.dataVolumeTemplates[0]', 'Multiple dataVolume sources'),
  ],
  [
    'a template in another namespace',
    (vm) => dataVolume(vm, { storage, source: { blank: {} } }, 'lab'),
    invalid(
      'spec.dataVolumeTemplates[0].metadata.namespace',
      'Embedded DataVolume namespace lab differs from VM namespace tailvm',
    ),
  ],
];

const NETWORKS: Rule[] = [
  [
    'a malformed MAC address',
    (vm) => (devices(vm).interfaces![0]!.macAddress = '02:00:00:zz:00:01'),
    invalid(`${NICS}[0].macAddress`, `interface ${NICS}[0].name has malformed MAC address (02:00:00:zz:00:01).`),
  ],
  [
    'a network without an interface',
    (vm) => spec(vm).networks!.push({ name: 'x', multus: { networkName: 'br1' } }),
    required(`${T}.networks[1].name`, `${T}.networks[1].name 'x' not found.`),
  ],
  [
    'an interface without a network',
    (vm) => devices(vm).interfaces!.push({ name: 'x', bridge: {} }),
    invalid(`${NICS}[1].name`, `${NICS}[1].name 'x' not found.`),
  ],
  [
    'two interfaces on one network',
    (vm) => devices(vm).interfaces!.push({ name: 'default', masquerade: {} }),
    duplicate(`${NICS}[1].name`, 'Only one interface can be connected to one specific network'),
  ],
  [
    'two networks with the same name',
    (vm) => spec(vm).networks!.push({ name: 'default', multus: { networkName: 'br1' } }),
    duplicate(
      `${T}.networks[1].name`,
      'Network with name "default" already exists, every network must have a unique name',
    ),
  ],
  [
    'a Multus network without a name',
    (vm) => {
      spec(vm).networks!.push({ name: 'x', multus: { networkName: '' } });
      devices(vm).interfaces!.push({ name: 'x', bridge: {} });
    },
    required(`${T}.networks[1]`, 'CNI delegating plugin must have a networkName'),
  ],
  [
    'two pod networks',
    (vm) => {
      spec(vm).networks!.push({ name: 'x', pod: {} });
      devices(vm).interfaces!.push({ name: 'x', masquerade: {} });
    },
    duplicate(`${T}.interfaces`, `more than one interface is connected to a pod network in ${T}.interfaces`),
  ],
  [
    'an interface without a binding',
    (vm) => delete devices(vm).interfaces![0]!.masquerade,
    invalid(`${NICS}[0]`, 'logical default interface must have exactly one binding method or binding plugin'),
  ],
  [
    'a masquerade interface on a Multus network',
    (vm) => (spec(vm).networks = [{ name: 'default', multus: { networkName: 'br1' } }]),
    invalid(`${NICS}[0].name`, 'Masquerade interface only implemented with pod network'),
  ],
  [
    'an unknown interface model',
    (vm) => (devices(vm).interfaces![0]!.model = 'ne1000'),
    unsupported(`${NICS}[0].model`, `interface ${NICS}[0].name uses model ne1000 that is not supported.`),
  ],
  [
    'an absent interface on the default network',
    (vm) => (devices(vm).interfaces![0] = { name: 'default', bridge: {}, state: 'absent' }),
    invalid(`${NICS}[0].state`, `"default" interface's state "absent" is not supported on default networks`),
  ],
];

const MATCHERS: Rule[] = [
  [
    'cores together with an instancetype',
    (vm) => withInstancetype(vm, { cpu: { cores: 2 } }),
    invalid(`${T}.domain.cpu.cores`, `VM field(s) ${T}.domain.cpu.cores conflicts with selected instance type`),
  ],
  [
    'guest memory together with an instancetype',
    (vm) => withInstancetype(vm, { memory: { guest: '2Gi' } }),
    invalid(`${T}.domain.memory.guest`, `VM field(s) ${T}.domain.memory.guest conflicts with selected instance type`),
  ],
  [
    'requests together with an instancetype',
    (vm) => withInstancetype(vm, { resources: { requests: { memory: '2Gi' } } }),
    invalid(
      `${T}.domain.resources.requests.memory`,
      `VM field(s) ${T}.domain.resources.requests.memory conflicts with selected instance type`,
    ),
  ],
];

describe('the rules of the VM webhook', () => {
  test.each([...RUNNING, ...VOLUMES, ...DISK_RULES, ...SIZES, ...TEMPLATES, ...NETWORKS, ...MATCHERS])(
    'refuse %s with its message and field',
    (_what, change, expected) => {
      const { create } = simulatedCluster();
      const vm = buildVirtualMachine('web');
      change(vm);
      let refusal: unknown;
      try {
        create(vm);
      } catch (error) {
        refusal = error;
      }
      expect(refusal).toBeInstanceOf(ApiError);
      const { status } = refusal as ApiError;
      expect(status).toMatchObject({
        code: 422,
        reason: 'Invalid',
        message: `admission webhook "virtualmachine-validator.kubevirt.io" denied the request: ${expected.message}`,
      });
      expect(status.details?.causes).toEqual([expected]);
    },
  );

  const refusalOf = (vm: VirtualMachine) => {
    try {
      simulatedCluster().create(vm);
    } catch (error) {
      return (error as ApiError).status;
    }
    return undefined;
  };

  test('report the sockets twice, and both reasons against an absent interface', () => {
    const sockets = buildVirtualMachine('web');
    spec(sockets).domain.cpu!.maxSockets = 1;
    const tooMany = 'Number of sockets in CPU topology is greater than the maximum sockets allowed';
    const socketCause = invalid(`${T}.domain.cpu.sockets`, tooMany);
    expect(refusalOf(sockets)?.details?.causes).toEqual([socketCause, socketCause]);
    const absent = buildVirtualMachine('web');
    devices(absent).interfaces![0]!.state = 'absent';
    expect(refusalOf(absent)?.details?.causes).toEqual([
      invalid(`${NICS}[0].state`, `"default" interface's state "absent" is supported only for bridge binding`),
      invalid(`${NICS}[0].state`, `"default" interface's state "absent" is not supported on default networks`),
    ]);
  });

  test('accept any memory of the guest, but not any request', () => {
    const vm = buildVirtualMachine('web');
    spec(vm).domain.memory = { guest: '1k' };
    expect(refusalOf(vm)).toBeUndefined();
  });

  const MUTATED: [what: string, change: (vm: VirtualMachine) => unknown, code: number, cause: StatusCause][] = [
    [
      'a missing template',
      (vm) => delete (vm.spec as Partial<VirtualMachine['spec']>).template,
      422,
      { message: 'spec.template in body is required' },
    ],
    [
      'a wrong type',
      (vm) => (spec(vm).domain.cpu!.sockets = 'two' as unknown as number),
      422,
      { message: `${T}.domain.cpu.sockets in body must be of type integer: "string"` },
    ],
    [
      'a malformed quantity',
      (vm) => (spec(vm).domain.memory = { guest: 'many' }),
      400,
      {
        message: "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
      },
    ],
    [
      'an instancetype matcher without a name, before its conflicts',
      (vm) => (vm.spec.instancetype = {}),
      422,
      notFound('spec.instancetype', 'Either Name or InferFromVolume should be provided within the InstancetypeMatcher'),
    ],
    [
      'a preference matcher without a name',
      (vm) => (vm.spec.preference = {}),
      422,
      notFound('spec.preference', 'Either Name or InferFromVolume should be provided within the PreferenceMatcher'),
    ],
  ];
  test.each(MUTATED)('of the mutating webhook refuse %s', (_what, change, code, expected) => {
    const vm = buildVirtualMachine('web');
    change(vm);
    expect(refusalOf(vm)).toMatchObject({
      code,
      message: `admission webhook "virtualmachines-mutator.kubevirt.io" denied the request: ${expected.message}`,
      ...(code === 422 ? { details: { causes: [expected] } } : {}),
    });
  });

  test('follow the configuration of the cluster', () => {
    const { create, store } = simulatedCluster();
    store.patch<KubeVirt>(
      RESOURCES.kubevirt,
      { namespace: 'kubevirt', name: 'kubevirt' },
      ({ spec: { configuration } }) => {
        configuration!.network = { permitBridgeInterfaceOnPodNetwork: false };
        configuration!.developerConfiguration!.featureGates = ['HostDisk'];
      },
    );
    const bridged = buildVirtualMachine('bridged');
    devices(bridged).interfaces = [{ name: 'default', bridge: {} }];
    expect(() => create(bridged)).toThrow('Bridge on pod network configuration is not enabled under kubevirt-config');
    const hostDisk = buildVirtualMachine('host-disk');
    addVolume(hostDisk, { name: 'x', hostDisk: { path: '/disk.img', type: 'Disk' } });
    expect(() => create(hostDisk)).not.toThrow();
  });
});

describe('the rules of the VMI webhooks', () => {
  const buildVmi = (): VirtualMachineInstance => ({
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachineInstance',
    metadata: { name: 'web', namespace: 'tailvm' },
    spec: { domain: { memory: { guest: '1Gi' }, devices: {} } },
  });

  test('refuse a VMI without memory', () => {
    const { create } = simulatedCluster();
    const vmi = buildVmi();
    delete vmi.spec.domain.memory;
    expect(() => create(vmi)).toThrow(
      "no memory requested, at least one of 'spec.domain.memory.guest', 'spec.domain.memory.hugepages.pageSize' or 'spec.domain.resources.requests.memory' must be set",
    );
  });

  test('refuse changes of a user and revert a status', async () => {
    const cluster = await listeningCluster();
    try {
      cluster.simulation.seedVm({ name: 'web' });
      const patch = (body: object) =>
        cluster.call('PATCH', `${cluster.vmis}/web`, body, { 'Content-Type': 'application/merge-patch+json' });
      expect(await patch({ spec: { hostname: 'x' } })).toMatchObject({
        status: 422,
        json: {
          message:
            'admission webhook "virtualmachineinstances-update-validator.kubevirt.io" denied the request: update of VMI object is restricted',
        },
      });
      expect(await patch({ metadata: { labels: { 'kubevirt.io/nodeName': 'x' } } })).toMatchObject({
        status: 422,
        json: {
          details: {
            causes: [
              {
                message: 'modification of the following reserved kubevirt.io/ labels on a VMI object is prohibited',
                field: 'metadata.labels',
              },
            ],
          },
        },
      });
      expect(await patch({ status: { phase: 'Failed' } })).toMatchObject({
        status: 200,
        json: { status: { phase: 'Running' } },
      });
    } finally {
      await cluster.close();
    }
  });
});

describe('updates of a VM', () => {
  let cluster: Awaited<ReturnType<typeof listeningCluster>>;

  beforeEach(async () => {
    cluster = await listeningCluster();
  });
  afterEach(() => cluster.close());

  const patch = (body: object) =>
    cluster.call('PATCH', `${cluster.vms}/web`, body, { 'Content-Type': 'application/merge-patch+json' });
  const setStatus = (status: Partial<VirtualMachine['status']>) =>
    cluster.sandbox.store.patch<VirtualMachine>(RESOURCES.vm, { namespace: 'tailvm', name: 'web' }, (vm) => {
      vm.status = { ...vm.status, ...status };
    });

  test('warn about running, which is deprecated', async () => {
    const vm = buildVirtualMachine('web');
    delete vm.spec.runStrategy;
    vm.spec.running = false;
    const { status, headers } = await cluster.call('POST', cluster.vms, vm);
    expect(status).toBe(201);
    expect(headers.get('warning')).toBe('299 - "spec.running is deprecated, please use spec.runStrategy instead."');
  });

  test('refuse another instancetype with the revision of the old one', async () => {
    const vm = buildVirtualMachine('web', { runStrategy: 'Halted' });
    withInstancetype(vm, {});
    vm.spec.instancetype = { name: 'u1.small', revisionName: 'r1' };
    expect((await cluster.call('POST', cluster.vms, vm)).status).toBe(201);
    expect(await patch({ spec: { instancetype: { name: 'u1.medium' } } })).toMatchObject({
      status: 422,
      json: {
        details: {
          causes: [
            invalid(
              'spec.instancetype.revisionName',
              'the Matcher Name has been updated without updating the RevisionName',
            ),
          ],
        },
      },
    });
    expect((await patch({ spec: { instancetype: { name: 'u1.medium', revisionName: null } } })).status).toBe(200);
  });

  test.each([
    [
      'the run strategy during a snapshot',
      { snapshotInProgress: 's' },
      { runStrategy: 'Always' },
      'spec',
      'Cannot update vm running state until snapshot "s" completes',
    ],
    [
      'volumes during a snapshot',
      { snapshotInProgress: 's' },
      { template: { spec: { volumes: [{ name: 'root', emptyDisk: { capacity: '1Gi' } }] } } },
      'spec',
      'Cannot update vm disks or volumes until snapshot "s" completes',
    ],
    [
      'the run strategy during a restore',
      { restoreInProgress: 'r' },
      { runStrategy: 'Always' },
      'spec.runStrategy',
      'Cannot update VM runStrategy until restore "r" completes',
    ],
  ])('refuse to change %s', async (_what, status, change, field, message) => {
    await cluster.call('POST', cluster.vms, buildVirtualMachine('web', { runStrategy: 'Halted' }));
    setStatus(status);
    expect(await patch({ spec: change })).toMatchObject({
      status: 422,
      json: { details: { causes: [invalid(field, message)] } },
    });
  });
});
