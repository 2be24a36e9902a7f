import { allPortsContract, importedImagesContract } from '@headgate/testing';
import { cluster, consoles, images, TIMEOUT_MS, UNAVAILABLE } from './testing/contract-options.contract.js';
import { SandboxHarness } from './testing/sandbox-harness.contract.js';

// Every suite once more in a cluster that is overloaded, behind a bad network, and an hour ahead of the service or
// behind it.
allPortsContract(
  'kube over a disturbed cluster',
  () => SandboxHarness.open({ simulation: { cluster }, disturbed: { hoursAhead: 1 } }),
  {
    timeoutMs: TIMEOUT_MS,
    consoles,
    migration: { canChooseNode: true },
    hardware: { hotplugsNics: true },
    unavailable: UNAVAILABLE,
    backupSource: { hasCheckpoints: false },
    diskExport: { hasQcow2: false },
    diskIngest: { reservesName: false, isUpdatable: false, knowsSpace: false },
    images,
  },
);

importedImagesContract(
  'kube over a disturbed cluster with uploads',
  () => SandboxHarness.open({ uploads: true, disturbed: { hoursAhead: -1 } }),
  { timeoutMs: TIMEOUT_MS, ...images },
);
