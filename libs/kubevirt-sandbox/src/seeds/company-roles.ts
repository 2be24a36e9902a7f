const DEBIAN = 'https://images.example/debian-12-generic.qcow2';
const UBUNTU = 'https://images.example/ubuntu-24.04-server.img';
const ROCKY = 'https://images.example/rocky-9-generic.qcow2';
const FEDORA = 'https://images.example/fedora-cloud-42.qcow2';
const WINDOWS = 'https://images.example/windows-2022.qcow2';
const WINDOWS_11 = 'https://images.example/windows-11.qcow2';
const ALPINE = 'https://images.example/alpine-3.22-virt.qcow2';

const TINY = { cpu: 1, memory: '1Gi', disk: '10Gi' };
const SMALL = { cpu: 2, memory: '4Gi', disk: '20Gi' };
const MEDIUM = { cpu: 4, memory: '8Gi', disk: '40Gi' };
const LARGE = { cpu: 8, memory: '16Gi', disk: '100Gi' };
const HUGE = { cpu: 16, memory: '64Gi', disk: '500Gi' };

/** What the machines of one purpose have in common. */
export interface Role {
  /** The name of its machines without their number. */
  readonly name: string;
  /** The purpose in a word, such as `web`. */
  readonly tier: string;
  readonly folder: string;
  readonly namespace: string;
  readonly size: { readonly cpu: number; readonly memory: string; readonly disk: string };
  readonly image: string;
  /** How many a company of about 40 machines has. */
  readonly few: number;
  /** How many one of about 200 machines has. */
  readonly many: number;
  /** Digits of the number, such as 2 for `api-gw-03`. */
  readonly digits?: number;
  readonly isCritical?: boolean;
}

const of = (
  { folder, namespace, tier }: Pick<Role, 'folder' | 'namespace' | 'tier'>,
  ...roles: (Omit<Role, 'folder' | 'namespace' | 'tier'> & { readonly within?: string })[]
): Role[] =>
  roles.map(({ within, ...role }) => ({ ...role, folder: within ? `${folder}/${within}` : folder, namespace, tier }));

/** The purposes of the machines of an invented company. */
export const ROLES: readonly Role[] = [
  ...of(
    { folder: 'prod/web', namespace: 'web', tier: 'web' },
    { name: 'api-gw', within: 'gateway', size: SMALL, image: DEBIAN, few: 3, many: 6, digits: 2, isCritical: true },
    { name: 'web', within: 'frontend', size: SMALL, image: UBUNTU, few: 3, many: 8, digits: 2 },
    { name: 'shop-api', within: 'shop', size: MEDIUM, image: UBUNTU, few: 1, many: 6 },
    { name: 'orders-api', within: 'orders', size: MEDIUM, image: DEBIAN, few: 2, many: 6 },
    { name: 'payments-api', within: 'payments', size: MEDIUM, image: DEBIAN, few: 1, many: 4, isCritical: true },
    { name: 'search-api', within: 'search', size: MEDIUM, image: UBUNTU, few: 0, many: 4 },
    { name: 'media-cache', within: 'edge', size: SMALL, image: DEBIAN, few: 0, many: 4 },
  ),
  ...of(
    { folder: 'prod/data', namespace: 'data', tier: 'data' },
    { name: 'orders-db', within: 'postgres', size: LARGE, image: DEBIAN, few: 2, many: 4, isCritical: true },
    { name: 'payments-db', within: 'postgres', size: LARGE, image: DEBIAN, few: 1, many: 2, isCritical: true },
    { name: 'customers-db', within: 'postgres', size: LARGE, image: DEBIAN, few: 0, many: 2 },
    { name: 'kafka-broker', within: 'kafka', size: LARGE, image: ROCKY, few: 3, many: 6 },
    { name: 'kafka-controller', within: 'kafka', size: SMALL, image: ROCKY, few: 0, many: 3 },
    { name: 'redis', within: 'cache', size: SMALL, image: DEBIAN, few: 1, many: 4 },
    { name: 'opensearch', within: 'search', size: LARGE, image: UBUNTU, few: 1, many: 5 },
    { name: 'clickhouse', within: 'warehouse', size: HUGE, image: UBUNTU, few: 0, many: 3 },
    { name: 'minio', within: 'objects', size: LARGE, image: ROCKY, few: 0, many: 4 },
    { name: 'rabbitmq', within: 'queues', size: SMALL, image: DEBIAN, few: 0, many: 3 },
  ),
  ...of(
    { folder: 'prod/identity', namespace: 'platform', tier: 'identity' },
    { name: 'keycloak', size: MEDIUM, image: ROCKY, few: 2, many: 3, isCritical: true },
    { name: 'ldap', size: SMALL, image: DEBIAN, few: 1, many: 2 },
    { name: 'vault', size: SMALL, image: DEBIAN, few: 1, many: 3, isCritical: true },
    { name: 'ad-dc', size: MEDIUM, image: WINDOWS, few: 0, many: 2 },
  ),
  ...of(
    { folder: 'prod/mail', namespace: 'platform', tier: 'mail' },
    { name: 'mail-relay', size: TINY, image: DEBIAN, few: 1, many: 3, digits: 2 },
    { name: 'imap', size: MEDIUM, image: DEBIAN, few: 0, many: 2 },
  ),
  ...of(
    { folder: 'prod/network', namespace: 'platform', tier: 'network' },
    { name: 'dns', size: TINY, image: ALPINE, few: 1, many: 3, isCritical: true },
    { name: 'vpn', size: TINY, image: DEBIAN, few: 1, many: 2 },
    { name: 'bastion', size: TINY, image: DEBIAN, few: 0, many: 2 },
    { name: 'egress-proxy', size: SMALL, image: DEBIAN, few: 0, many: 3 },
  ),
  ...of(
    { folder: 'prod/observability', namespace: 'platform', tier: 'observability' },
    { name: 'prometheus', size: LARGE, image: UBUNTU, few: 1, many: 3 },
    { name: 'grafana', size: SMALL, image: UBUNTU, few: 1, many: 2 },
    { name: 'loki', size: MEDIUM, image: UBUNTU, few: 0, many: 4 },
  ),
  ...of(
    { folder: 'prod/ci', namespace: 'platform', tier: 'ci' },
    { name: 'git', size: LARGE, image: DEBIAN, few: 1, many: 1 },
    { name: 'ci-runner', size: MEDIUM, image: FEDORA, few: 2, many: 16, digits: 2 },
    { name: 'registry', size: MEDIUM, image: DEBIAN, few: 0, many: 2 },
  ),
  ...of(
    { folder: 'prod/office', namespace: 'platform', tier: 'office' },
    { name: 'erp', size: LARGE, image: WINDOWS, few: 1, many: 2 },
    { name: 'files', size: MEDIUM, image: WINDOWS, few: 0, many: 2 },
    { name: 'rdp-host', size: LARGE, image: WINDOWS, few: 0, many: 6, digits: 2 },
  ),
  ...of(
    { folder: 'stage', namespace: 'dev', tier: 'web' },
    { name: 'stage-api-gw', within: 'web', size: SMALL, image: DEBIAN, few: 0, many: 3 },
    { name: 'stage-orders-api', within: 'web', size: MEDIUM, image: DEBIAN, few: 1, many: 3 },
    { name: 'stage-search', within: 'web', size: SMALL, image: UBUNTU, few: 1, many: 2 },
    { name: 'stage-payments-api', within: 'web', size: MEDIUM, image: DEBIAN, few: 0, many: 2 },
    { name: 'stage-orders-db', within: 'data', size: MEDIUM, image: DEBIAN, few: 1, many: 2 },
    { name: 'stage-kafka', within: 'data', size: MEDIUM, image: ROCKY, few: 0, many: 3 },
    { name: 'stage-keycloak', within: 'identity', size: SMALL, image: ROCKY, few: 1, many: 1 },
  ),
  ...of(
    { folder: 'dev', namespace: 'dev', tier: 'dev' },
    { name: 'dev-desktop', within: 'desktops', size: MEDIUM, image: FEDORA, few: 2, many: 14, digits: 2 },
    { name: 'dev-db', within: 'data', size: SMALL, image: DEBIAN, few: 1, many: 4 },
    { name: 'dev-build', within: 'build', size: LARGE, image: FEDORA, few: 0, many: 6 },
  ),
  ...of(
    { folder: 'lab', namespace: 'lab', tier: 'lab' },
    { name: 'lab-k3s', within: 'k3s', size: SMALL, image: ALPINE, few: 1, many: 6 },
    { name: 'lab-win11', within: 'windows', size: MEDIUM, image: WINDOWS_11, few: 1, many: 4 },
    { name: 'lab-gpu', within: 'gpu', size: HUGE, image: UBUNTU, few: 1, many: 2 },
    { name: 'lab-ceph', within: 'storage', size: MEDIUM, image: ROCKY, few: 0, many: 6 },
  ),
];
