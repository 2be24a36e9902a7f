import { buildVm } from '../builders.js';
import type { BackendHarness } from '../contracts/backend-harness.js';
import { consoleSourceContract } from '../contracts/console-source.contract.js';
import { instanceInventoryContract } from '../contracts/instance-inventory.contract.js';
import { instancePowerContract } from '../contracts/instance-power.contract.js';
import { instanceProvisioningContract } from '../contracts/instance-provisioning.contract.js';
import { MEMORY_VOLUME, withStatus } from './memory-abilities.js';
import { MemoryBackend } from './memory-backend.js';

const open = async (): Promise<BackendHarness> => {
  const backend = new MemoryBackend();
  let names = 0;
  const freshRef = () => ({ kind: 'vm', context: 'lab', namespace: 'default', name: `vm-${++names}` }) as const;
  return {
    backend,
    freshRef,
    givenVm: async (status) => {
      const vm = withStatus(buildVm({ ref: freshRef(), backend: backend.kind, uid: backend.fleet.nextUid() }), status);
      backend.fleet.put(vm);
      return vm.ref;
    },
    deleteExternally: async (ref) => backend.fleet.remove(ref),
    quickSource: async () => ({ kind: 'pvc', claim: MEMORY_VOLUME }),
    close: () => backend.close(),
  };
};

instanceInventoryContract('memory', open);
instancePowerContract('memory', open);
instanceProvisioningContract('memory', open);
consoleSourceContract('memory', open, { greeting: /login: $/ });
