import type { ContainerView, VmView } from '@headgate/api-contracts';

/** A VM as the lists of the service have it. */
export const vmView = (fields: Partial<VmView> = {}): VmView => {
  const { name = 'web-1', namespace = 'default', context = 'lab' } = fields;
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
    ip: '192.0.2.7',
    node: 'node-1',
    tags: ['prod'],
    ref: `vm/${context}/${namespace}/${name}`,
    backend: 'libvirt',
    isTemplate: false,
    liveMigratable: false,
    agentConnected: true,
    protected: false,
    restartRequired: false,
    ...fields,
  };
};

export const containerView = (fields: Partial<ContainerView> = {}): ContainerView => {
  const { name = 'box-1', namespace = 'default', context = 'lab' } = fields;
  return {
    name,
    namespace,
    context,
    node: '',
    phase: 'Running',
    ready: true,
    image: 'tiny',
    cpu: 1,
    mem: '512Mi',
    privileged: false,
    ref: `ct/${context}/${namespace}/${name}`,
    backend: 'incus',
    tags: [],
    ...fields,
  };
};
