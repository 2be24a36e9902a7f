import { RESOURCES } from '../resources.js';
import type { VirtualMachine } from '../types/virtual-machine.js';
import type { SimulationContext } from '../simulation-context.js';

const TICK_MS = 20;
/** The label that churn changes on one VM after another. */
export const CHURN_LABEL = 'sandbox.headgate.dev/churn';

export interface ChurnOptions {
  /** Receives each change at the time of the change. */
  onChange?: (vm: VirtualMachine, serial: number) => void;
  /** Applies the change. Default: sets the label `CHURN_LABEL` to the serial number. */
  edit?: (vm: VirtualMachine, serial: number) => void;
}

/** Changes `rate` VMs a second, one after another, until the returned function is called: a load for benchmarks. */
export function churn(
  context: SimulationContext,
  rate: number,
  { onChange, edit = count }: ChurnOptions = {},
): () => void {
  const keys = context.store.keys(RESOURCES.vm);
  const began = context.clock.now();
  let serial = 0;
  if (keys.length === 0) return () => undefined;
  return context.clock.repeat(() => {
    // Based on the elapsed time, so that late ticks catch up.
    const due = Math.floor(((context.clock.now() - began) * rate) / 1000);
    while (serial < due) {
      const key = keys[serial++ % keys.length]!;
      if (!context.store.get(RESOURCES.vm, key)) continue;
      const changed = context.store.patch<VirtualMachine>(RESOURCES.vm, key, (vm) => edit(vm, serial));
      onChange?.(changed, serial);
    }
  }, TICK_MS);
}

function count({ metadata }: VirtualMachine, serial: number): void {
  metadata.labels = { ...metadata.labels, [CHURN_LABEL]: String(serial) };
}
