import { disturb, HurriedClock, skewedClock } from '../testing/faulty-cluster.contract.js';
import { storeContracts } from './testing/store-contracts.contract.js';
import { NAMESPACE, StoreHarness } from './testing/store-harness.contract.js';

// The suites of what replicas share, in a cluster that is overloaded, behind a bad network, and an hour ahead of the
// replicas.
storeContracts('custom resources in a disturbed cluster', async () => {
  const clock = skewedClock(1);
  const harness = await StoreHarness.open({ clock });
  disturb(harness.sandbox, NAMESPACE);
  return {
    connect: (options) => harness.connect({ clock: new HurriedClock(), ...options }),
    join: (options) => harness.join({ clock: new HurriedClock(), ...options }),
    close: async () => {
      await harness.close();
      clock.stop();
    },
  };
});
