import { ABILITY_NAMES, type InstanceRef } from '@headgate/domain-contracts';
import { allPortsContract, buildVm, type BackendHarness } from '@headgate/testing';
import { SHELF_ABILITIES, SHELF_TRAITS, ShelfBackend } from './shelf-backend.js';
import { ShelfEngine } from './shelf-engine.js';

/** The backend over an engine that belongs to the suite alone. */
function openHarness(): BackendHarness {
  const engine = new ShelfEngine();
  let names = 0;
  const freshRef = (): InstanceRef & { readonly kind: 'vm' } => {
    const namespace = SHELF_TRAITS.namespaces.default;
    return { kind: 'vm', context: 'lab', namespace, name: `vm-${++names}` };
  };
  return {
    backend: new ShelfBackend('lab', engine),
    freshRef,
    givenVm: async (status) => {
      const vm = buildVm({ ref: freshRef(), backend: SHELF_TRAITS.kind });
      engine.create(vm);
      const created = engine.find(vm.ref);
      if (created && status !== 'Stopped') engine.setStatus(created, status);
      return vm.ref;
    },
    deleteExternally: async (ref) => engine.delete(ref),
    quickSource: async () => ({ kind: 'pvc', claim: 'none' }),
    openUnreachable: async () => new ShelfBackend('gone'),
    close: async () => undefined,
  };
}

allPortsContract('shelf', async () => openHarness(), {
  consoles: { greeting: /login: / },
  unavailable: ABILITY_NAMES.filter((name) => !SHELF_ABILITIES.includes(name)),
});
