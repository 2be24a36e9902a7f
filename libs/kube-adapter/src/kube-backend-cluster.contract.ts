import { allPortsContract } from '@headgate/testing';
import { selectSuites, UNAVAILABLE } from './cluster-suite/requirements.js';
import { openSuiteCluster } from './cluster-suite/suite-cluster.js';
import { settingsOf } from './cluster-suite/suite-settings.js';
import { ClusterHarness } from './testing/cluster-harness.contract.js';
import { consoles, images } from './testing/contract-options.contract.js';

// Real guests boot, and real images are downloaded.
const TIMEOUT_MS = 300_000;

const settings = settingsOf(process.env);
if (!settings) throw new Error('Name the cluster in HEADGATE_TEST_KUBECONFIG, or use npm run test:cluster.');
const cluster = openSuiteCluster(settings);
const { abilities, canChooseNode, hotplugsNics, reservesCpus, isUsable } = await selectSuites(cluster).finally(() =>
  cluster.close(),
);
if (!isUsable) throw new Error('The cluster can run no suite: npm run test:cluster -- --prepare says why.');

allPortsContract('kube over the cluster', () => ClusterHarness.open(settings), {
  timeoutMs: TIMEOUT_MS,
  consoles,
  abilities,
  unavailable: UNAVAILABLE,
  migration: { canChooseNode },
  hardware: { hotplugsNics, reservesCpus },
  backupSource: { hasCheckpoints: false },
  diskExport: { hasQcow2: false },
  diskIngest: { reservesName: false, isUpdatable: false, knowsSpace: false },
  images,
});
