import type { GuestCpu, NodeObject, VmiObject } from '../api/object-types.js';
import { missingLabels, remedyFor, targetLabels, type Labels, type MigratingGuest } from './target-labels.js';

const MACHINE = 'machine-type.node.kubevirt.io/pc-q35-rhel9.6.0';
const HOST_MODEL = {
  'cpu-model-migration.node.kubevirt.io/Haswell': 'true',
  'cpu-feature.node.kubevirt.io/ssbd': 'true',
};

const node = (name: string, labels: Labels): NodeObject => ({ metadata: { name, labels } });
const NODES = [
  node('a', {
    [MACHINE]: 'true',
    'host-model-cpu.node.kubevirt.io/Haswell': 'true',
    'host-model-required-features.node.kubevirt.io/ssbd': 'true',
    'cpu-feature.node.kubevirt.io/aes': 'true',
  }),
  node('b', { [MACHINE]: 'true' }),
];

const vmi = (cpu: GuestCpu | undefined, rest: { spec?: object; status?: object } = {}): VmiObject => ({
  metadata: { name: 'web', namespace: 'lab' },
  spec: { domain: { cpu, machine: { type: 'q35' } }, ...rest.spec },
  status: { nodeName: 'a', machine: { type: 'pc-q35-rhel9.6.0' }, ...rest.status },
});

const labels = (guest: Partial<MigratingGuest> = {}): Labels =>
  targetLabels({
    vmi: vmi({ model: 'host-model' }),
    nodes: NODES,
    launcher: undefined,
    selectsMachines: true,
    ...guest,
  });

describe('targetLabels', () => {
  test('of a guest with the model of its host: the model and the features of that host', () => {
    expect(labels()).toEqual({ [MACHINE]: 'true', ...HOST_MODEL });
  });

  test('of a guest that has migrated before: those that its launcher names', () => {
    const nodeSelector = {
      'cpu-model-migration.node.kubevirt.io/Skylake-Server': 'true',
      'kubevirt.io/schedulable': 'true',
    };
    const launcher = { metadata: { name: 'virt-launcher-web-x' }, spec: { nodeSelector } };
    expect(labels({ launcher })).toEqual({
      [MACHINE]: 'true',
      'cpu-model-migration.node.kubevirt.io/Skylake-Server': 'true',
    });
  });

  test.each<[string, GuestCpu | undefined, Labels]>([
    ['a named model', { model: 'EPYC' }, { 'cpu-model.node.kubevirt.io/EPYC': 'true' }],
    ['the CPU of its host', { model: 'host-passthrough' }, {}],
    ['no model', { cores: 2 }, {}],
    ['no CPU', undefined, {}],
    [
      'a model with features',
      {
        model: 'EPYC',
        features: [{ name: 'svm' }, { name: 'aes', policy: 'require' }, { name: 'x', policy: 'disable' }],
      },
      {
        'cpu-model.node.kubevirt.io/EPYC': 'true',
        'cpu-feature.node.kubevirt.io/svm': 'true',
        'cpu-feature.node.kubevirt.io/aes': 'true',
      },
    ],
  ])('of a guest with %s', (_what, cpu, expected) => {
    expect(labels({ vmi: vmi(cpu) })).toEqual({ [MACHINE]: 'true', ...expected });
  });

  test.each([{}, { machine: undefined }, { machine: { type: '' } }])(
    'has the machine of the spec with the status %j',
    (status) => {
      const guest = vmi(undefined, { status: { machine: undefined, ...status } });
      expect(labels({ vmi: guest })).toEqual({ 'machine-type.node.kubevirt.io/q35': 'true' });
    },
  );

  test('has no machine where KubeVirt does not select by it: in an old release without such labels', () => {
    const nodes = [node('a', {}), node('b', {})];
    expect(labels({ vmi: vmi(undefined), nodes, selectsMachines: false })).toEqual({});
    expect(labels({ vmi: vmi(undefined), nodes: NODES, selectsMachines: false })).toEqual({ [MACHINE]: 'true' });
  });

  test('has the selector and the architecture of the VM', () => {
    const guest = vmi(undefined, { spec: { nodeSelector: { disk: 'ssd' }, architecture: 'arm64' } });
    expect(labels({ vmi: guest })).toMatchObject({ disk: 'ssd', 'kubernetes.io/arch': 'arm64' });
  });

  test('is not known for a source that is gone', () => {
    expect(labels({ nodes: [NODES[1]!] })).toEqual({ [MACHINE]: 'true' });
  });
});

test('missing labels have their value unless they are switches', () => {
  const needed = { [MACHINE]: 'true', disk: 'ssd', zone: 'x' };
  expect(missingLabels(node('c', { zone: 'x', disk: 'hdd', [MACHINE]: 'false' }), needed)).toEqual([
    MACHINE,
    'disk=ssd',
  ]);
});

test.each([
  [['disk=ssd'], /change the labels/],
  [['cpu-feature.node.kubevirt.io/aes'], /CPU model that all its nodes have/],
  [['cpu-model.node.kubevirt.io/EPYC', MACHINE], /restart the VM/],
])('the remedy for %j', (missing, remedy) => {
  expect(remedyFor(missing)).toMatch(remedy);
});
