import { RESOURCES } from '../resources.js';
import type { VirtualMachine } from '../types/virtual-machine.js';
import type { World } from '../world.js';

const TICK_MS = 20;
/** The label that churn changes on one VM after the other. */
export const CHURN_LABEL = 'sandbox.headgate.dev/churn';

/**
 * Changes `rate` VMs a second, one after the other, until the returned function is called: a load for benchmarks. `onChange`
 * hears of each change at the moment it is made.
 */
export function churn(world: World, rate: number, onChange?: (vm: VirtualMachine, serial: number) => void): () => void {
  const keys = world.store.list<VirtualMachine>(RESOURCES.vm).map(({ metadata }) => metadata);
  let serial = 0;
  let owed = 0;
  if (keys.length === 0) return () => undefined;
  return world.clock.repeat(() => {
    owed += (rate * TICK_MS) / 1000;
    for (; owed >= 1; owed--) {
      const key = keys[serial++ % keys.length]!;
      if (!world.store.get(RESOURCES.vm, key)) continue;
      const changed = world.store.patch<VirtualMachine>(RESOURCES.vm, key, ({ metadata }) => {
        metadata.labels = { ...metadata.labels, [CHURN_LABEL]: String(serial) };
      });
      onChange?.(changed, serial);
    }
  }, TICK_MS);
}
