import { KubeSandbox } from '@headgate/kube-sandbox';
import { KubevirtSimulation } from '@headgate/kubevirt-sandbox';
import { KubeConfig } from '@kubernetes/client-node';
import { deleteIdleVms, idleVms } from './idle-vms.js';

const VMS = 'virtualmachines.kubevirt.io';

describe('idle VMs', () => {
  let sandbox;
  let kubeConfig;

  beforeEach(async () => {
    const simulation = new KubevirtSimulation();
    sandbox = await KubeSandbox.listen({ extensions: [simulation] });
    simulation.seedVm(
      { namespace: 'lab', name: 'web' },
      { namespace: 'lab', name: 'old', status: 'Stopped' },
      { namespace: 'lab', name: 'paused', status: 'Paused' },
      { namespace: 'other', name: 'theirs', status: 'Stopped' },
    );
    kubeConfig = new KubeConfig();
    kubeConfig.loadFromString(sandbox.kubeconfig());
  });
  afterEach(() => sandbox.close());

  test('are those that are stopped, in one request', async () => {
    sandbox.requests.reset();
    expect(await idleVms(kubeConfig, 'lab')).toEqual(['old']);
    expect(sandbox.requests.count({ verb: 'list', resource: VMS })).toBe(1);
  });

  /** As in a cluster, a deleted VM is there until its finalizer has been removed. */
  const isDeleted = (namespace, name) => {
    const vm = sandbox.store.get(VMS, { namespace, name });
    return vm === undefined || vm.metadata.deletionTimestamp !== undefined;
  };

  test('are deleted, and only they', async () => {
    expect(await deleteIdleVms(kubeConfig, 'lab')).toEqual(['old']);
    expect(isDeleted('lab', 'old')).toBe(true);
    expect(isDeleted('lab', 'web')).toBe(false);
    expect(isDeleted('other', 'theirs')).toBe(false);
  });

  test('are not deleted when the cluster forbids it', async () => {
    sandbox.faults.forbid({ verb: 'delete', resource: VMS });
    await expect(deleteIdleVms(kubeConfig, 'lab')).rejects.toMatchObject({ code: 403 });
    expect(await idleVms(kubeConfig, 'lab')).toEqual(['old']);
  });
});
