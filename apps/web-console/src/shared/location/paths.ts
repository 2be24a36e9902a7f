import type { InstanceAddress } from '../api/instance-path.js';

export type InstanceTab =
  'overview' | 'console' | 'serial' | 'guest' | 'hardware' | 'snapshots' | 'events' | 'manifest';

const encoded = ({ context, namespace, name }: InstanceAddress): string =>
  [context, namespace, name].map(encodeURIComponent).join('/');

export type ContainerTab =
  'overview' | 'terminal' | 'logs' | 'files' | 'hardware' | 'snapshots' | 'events' | 'manifest';

/** Paths inside the console. */
export const paths = {
  fleet: '/vms',
  createVm: '/vms/create',
  vm: (address: InstanceAddress, tab: InstanceTab = 'overview') => `/vms/${encoded(address)}/${tab}`,
  containers: '/containers',
  createContainer: '/containers/create',
  container: (address: InstanceAddress, tab: ContainerTab = 'overview') =>
    `/containers/${encoded(address)}${tab === 'overview' ? '' : `/${tab}`}`,
  folders: '/folders',
  nodes: '/nodes',
  storage: '/storage',
  networks: '/networks',
  /** The IDs of tasks have no characters that need encoding. */
  task: (id: string) => `/tasks/${id}`,
  images: '/images',
  plugins: '/plugins',
  backups: '/backups',
  schedules: '/schedules',
  approvals: '/approvals',
  doctor: '/doctor',
  activity: '/activity',
  journal: '/journal',
  messages: '/messages',
  access: '/access',
  integrations: '/integrations',
  settings: '/settings',
  account: '/account',
  device: '/device',
  login: '/login',
} as const;

/** The list of the VMs on one node. */
export const nodePath = (context: string, node: string): string =>
  `${paths.fleet}?${new URLSearchParams({ context, node })}`;

/** Reads the parameters of a path that `paths.vm` or `paths.container` built. */
export const addressOf = (params: Readonly<Record<string, string | undefined>>): InstanceAddress => ({
  context: decodeURIComponent(params['context'] ?? ''),
  namespace: decodeURIComponent(params['namespace'] ?? ''),
  name: decodeURIComponent(params['name'] ?? ''),
});

/** The path of an instance by its ref (`vm/<context>/<namespace>/<name>`). Images have one page for all. */
export function pathOfRef(ref: string): string {
  const [kind, ...parts] = ref.split('/').map(decodeURIComponent);
  const [context = '', namespace = '', name = ''] = parts;
  if (kind === 'image') return paths.images;
  return kind === 'ct' ? paths.container({ context, namespace, name }) : paths.vm({ context, namespace, name });
}
