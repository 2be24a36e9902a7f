import type { VmView } from '@headgate/api-contracts';

/** A running VM, with overrides for the test. */
export function buildVm(overrides: Partial<VmView> = {}): VmView {
  const { name = 'web-1', namespace = 'tailvm', context = 'prod' } = overrides;
  return {
    name,
    namespace,
    context,
    status: 'Running',
    ready: true,
    running: true,
    cpu: 2,
    mem: '4Gi',
    disk: '20Gi',
    ip: '10.0.0.7',
    node: 'node-1',
    tags: [],
    ref: `vm/${encodeURIComponent(context)}/${namespace}/${name}`,
    backend: 'kubevirt',
    isTemplate: false,
    liveMigratable: true,
    agentConnected: true,
    protected: false,
    restartRequired: false,
    ...overrides,
  };
}

/** A stopped VM, which has no address and no node. */
export function buildStoppedVm(overrides: Partial<VmView> = {}): VmView {
  const { ip: _ip, node: _node, ...vm } = buildVm({ status: 'Stopped', ready: false, running: false, ...overrides });
  return vm;
}
