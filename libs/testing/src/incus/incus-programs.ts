import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync, mkdirSync, rmdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The engines that share the REST API. */
export const INCUS_FLAVORS = ['incus', 'lxd'] as const;
export type IncusFlavor = (typeof INCUS_FLAVORS)[number];

/** The names of the programs of an engine, and of the variables that name its folders. */
export interface IncusPrograms {
  readonly daemon: string;
  readonly client: string;
  /** The arguments with which a program waits until the daemon of its folder is ready. */
  readonly wait: readonly string[];
  readonly folderVariable: string;
  readonly clientVariable: string;
}

export const INCUS_PROGRAMS: Record<IncusFlavor, IncusPrograms> = {
  incus: {
    daemon: 'incusd',
    client: 'incus',
    wait: ['incusd', 'waitready', '--timeout', '240'],
    folderVariable: 'INCUS_DIR',
    clientVariable: 'INCUS_CONF',
  },
  lxd: {
    daemon: 'lxd',
    client: 'lxc',
    wait: ['lxd', 'waitready', '--timeout', '240'],
    folderVariable: 'LXD_DIR',
    clientVariable: 'LXD_CONF',
  },
};

/** The folders of the packages of Debian and Zabbly, which are not on the PATH. */
const DAEMON_FOLDERS = ['/usr/sbin', '/sbin', '/usr/libexec/incus', '/opt/incus/bin'];

/** What the daemons and their helpers search for programs. */
export const INCUS_PATH = [process.env['PATH'] ?? '/usr/bin:/bin', ...DAEMON_FOLDERS].join(delimiter);

/** Why a private daemon can't be started on this machine; undefined if it can. */
export function whyIncusIsUnavailable(flavor: IncusFlavor): string | undefined {
  const { daemon, client } = INCUS_PROGRAMS[flavor];
  const missing = [daemon, client, 'unshare', 'nsenter', 'setpriv', 'ip'].filter((name) => !isInstalled(name));
  if (missing.length > 0) return `${missing.join(', ')} not installed`;
  if (process.getuid?.() !== 0) return 'not root, which its namespaces take';
  const namespaces = ['--mount', '--net', '--pid', '--uts', '--fork', '--mount-proc', 'true'];
  if (spawnSync('unshare', namespaces).status !== 0) return 'no new namespaces allowed';
  if (!canCreateControlGroup()) return 'no new control groups allowed';
  return undefined;
}

/** The places of the unified hierarchy, of one next to those of version 1, and of systemd's. */
const CONTROL_GROUPS = ['/sys/fs/cgroup', '/sys/fs/cgroup/unified', '/sys/fs/cgroup/systemd'];

function canCreateControlGroup(): boolean {
  const parent = CONTROL_GROUPS.find((folder) => existsSync(join(folder, 'cgroup.procs')));
  if (parent === undefined) return false;
  const group = join(parent, `headgate-test-${process.pid}`);
  try {
    mkdirSync(group);
    rmdirSync(group);
    return true;
  } catch {
    return false;
  }
}

const isInstalled = (name: string): boolean =>
  INCUS_PATH.split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, name), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
