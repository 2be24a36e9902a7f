import { DEFAULT_NAMESPACE, formatRef, type InstanceRef } from '@headgate/domain-contracts';
import { buildVm } from '../builders.js';
import { allPortsContract } from '../contracts/all-ports.contract.js';
import { containerHardwareContract } from '../contracts/container-hardware.contract.js';
import type { BackendHarness } from '../contracts/backend-harness.js';
import { diagnosticsContract } from '../contracts/diagnostics.contract.js';
import { unavailableAbilityContract } from '../contracts/unavailable-ability.contract.js';
import { MemoryBackend, type MemoryBackendOptions } from './memory-backend.js';
import { withStatus } from './memory-engine.js';
import { ECHO_PORT } from './memory-guest-ports.js';
import { MEMORY_VOLUME } from './memory-instances.js';

const DISK_BYTES = 8 * 1024 ** 2;

const open = async (options: MemoryBackendOptions = {}): Promise<BackendHarness & { backend: MemoryBackend }> => {
  const backend = new MemoryBackend('lab', options);
  const { engine } = backend;
  let names = 0;
  const freshRef = (): InstanceRef & { kind: 'vm' } => ({
    kind: 'vm',
    context: 'lab',
    namespace: DEFAULT_NAMESPACE,
    name: `vm-${++names}`,
  });
  return {
    backend,
    freshRef,
    givenVm: async (status) => {
      const vm = withStatus(buildVm({ ref: freshRef(), uid: engine.nextUid() }), status);
      engine.put(vm);
      return vm.ref;
    },
    writeAsGuest: async (ref, { offset, length, byte }) => {
      const key = `${formatRef(ref)} vda`;
      const content = Buffer.concat([engine.disks.get(key) ?? Buffer.alloc(0)], DISK_BYTES);
      content.fill(byte, offset, offset + length);
      engine.disks.set(key, content);
    },
    givenEcho: async () => {
      const vm = withStatus(buildVm({ ref: freshRef(), uid: engine.nextUid() }), 'Running');
      engine.put(vm);
      return { ref: vm.ref, port: ECHO_PORT, closedPort: ECHO_PORT + 1 };
    },
    deleteExternally: async (ref) => engine.remove(ref),
    quickSource: async () => ({ kind: 'pvc', claim: MEMORY_VOLUME }),
    openUnreachable: async () => {
      const unreachable = new MemoryBackend('gone');
      unreachable.engine.disconnect();
      return unreachable;
    },
    close: () => backend.close(),
  };
};

allPortsContract('memory', open, {
  consoles: { greeting: /login: $/ },
  snapshots: { savesMemory: true },
  unavailable: ['diskBuilds', 'twin'],
});

containerHardwareContract('memory', open);

diagnosticsContract('memory with faults', async () => {
  const harness = await open();
  harness.backend.engine.faults.set('storage', 'The pool does not exist.');
  return harness;
});

unavailableAbilityContract('memory without migration', 'migration', () =>
  open({ unavailable: { migration: 'There is only one node.' } }),
);
