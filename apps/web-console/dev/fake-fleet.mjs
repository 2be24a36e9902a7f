/** Made-up instances for development and screenshots. Nothing here runs. */
const STATUSES = [
  ...Array(14).fill('Running'),
  ...Array(5).fill('Stopped'),
  'Paused',
  'Starting',
  'Provisioning',
  'Migrating',
];
const ROLES = ['web', 'db', 'cache', 'build', 'ci-runner', 'mail', 'edge-proxy', 'analytics-worker'];
const TAGS = ['prod', 'staging', 'linux', 'gpu', 'backup', 'pci'];
const RUNNING = new Set(['Running', 'Paused', 'Migrating', 'Stopping']);

export function fakeVm(index, overrides = {}) {
  const context = index % 7 === 3 ? 'lab' : 'prod';
  const role = ROLES[index % ROLES.length];
  const broken = !overrides.status && index % 97 === 41;
  const status = overrides.status ?? (broken ? 'ErrorUnschedulable' : STATUSES[(index * 7) % STATUSES.length]);
  const running = RUNNING.has(status);
  const namespace = overrides.namespace ?? ['tailvm', 'shop', 'data'][index % 3];
  const name = overrides.name ?? `${role}-${index}`;
  return {
    name,
    namespace,
    status,
    ready: status === 'Running',
    running,
    cpu: [1, 2, 4, 8, 16][index % 5],
    mem: ['512Mi', '2Gi', '4Gi', '8Gi', '64Gi'][index % 5],
    disk: ['10Gi', '20Gi', '40Gi', '100Gi', '1Ti'][index % 5],
    ...(running
      ? {
          ip: `10.${index % 4}.${Math.floor(index / 250) % 250}.${(index % 250) + 2}`,
          node: `node-${(index % 12) + 1}`,
        }
      : {}),
    tags: TAGS.filter((_tag, place) => (index + place) % (place + 3) === 0),
    ref: `vm/${context}/${namespace}/${name}`,
    context,
    backend: context === 'lab' ? 'libvirt' : 'kubevirt',
    isTemplate: index % 50 === 17,
    liveMigratable: index % 3 !== 0,
    agentConnected: running,
    protected: index % 29 === 5,
    restartRequired: index % 31 === 4,
    ...(broken ? { reason: '0/12 nodes are available: 12 Insufficient memory.' } : {}),
    createdAt: new Date(Date.UTC(2026, 0, 1) + index * 3_600_000).toISOString(),
    ...overrides,
  };
}

export const fakeFleet = (count) => Array.from({ length: count }, (_, index) => fakeVm(index + 1));

export const fakeContainer = (index) => ({
  name: `shell-${index}`,
  namespace: 'tailvm',
  node: index % 3 === 0 ? '' : `node-${index}`,
  phase: index % 3 === 0 ? 'Stopped' : index % 5 === 4 ? 'Pending' : 'Running',
  ready: index % 3 !== 0,
  image: 'registry.example.org/tools/debian:12',
  cpu: 1,
  mem: '512Mi',
  privileged: index % 2 === 0,
  ref: `ct/prod/tailvm/shell-${index}`,
  context: 'prod',
  backend: 'kubevirt',
  tags: [],
  createdAt: new Date(Date.UTC(2026, 1, index)).toISOString(),
});
