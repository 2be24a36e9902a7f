/** The facts that a simulated operating system reports about itself. */
export interface GuestProfile {
  id: string;
  name: string;
  version: string;
  prettyName: string;
  kernelRelease: string;
  kernelVersion: string;
  defaultUser: string;
  agent: boolean;
}

const linux = (profile: Omit<GuestProfile, 'agent' | 'kernelVersion'> & Partial<GuestProfile>): GuestProfile => ({
  agent: true,
  kernelVersion: '#1 SMP PREEMPT_DYNAMIC',
  ...profile,
});

const FEDORA = linux({
  id: 'fedora',
  name: 'Fedora Linux',
  version: '42',
  prettyName: 'Fedora Linux 42 (Cloud Edition)',
  kernelRelease: '6.14.0-63.fc42.x86_64',
  defaultUser: 'fedora',
});

/** Compared in this order with the names of images and preferences; the first word that occurs wins. */
const PROFILES: readonly (readonly [RegExp, GuestProfile])[] = [
  [
    /ubuntu/,
    linux({
      id: 'ubuntu',
      name: 'Ubuntu',
      version: '24.04',
      prettyName: 'Ubuntu 24.04.3 LTS',
      kernelRelease: '6.8.0-71-generic',
      defaultUser: 'ubuntu',
    }),
  ],
  [
    /debian/,
    linux({
      id: 'debian',
      name: 'Debian GNU/Linux',
      version: '12',
      prettyName: 'Debian GNU/Linux 12 (bookworm)',
      kernelRelease: '6.1.0-38-cloud-amd64',
      defaultUser: 'debian',
    }),
  ],
  [
    /centos|stream/,
    linux({
      id: 'centos',
      name: 'CentOS Stream',
      version: '10',
      prettyName: 'CentOS Stream 10 (Coughlan)',
      kernelRelease: '6.12.0-55.el10.x86_64',
      defaultUser: 'cloud-user',
    }),
  ],
  [
    /rocky/,
    linux({
      id: 'rocky',
      name: 'Rocky Linux',
      version: '9.6',
      prettyName: 'Rocky Linux 9.6 (Blue Onyx)',
      kernelRelease: '5.14.0-570.12.1.el9_6.x86_64',
      defaultUser: 'rocky',
    }),
  ],
  [
    /alpine/,
    linux({
      id: 'alpine',
      name: 'Alpine Linux',
      version: '3.22.1',
      prettyName: 'Alpine Linux v3.22',
      kernelRelease: '6.12.41-0-virt',
      defaultUser: 'alpine',
    }),
  ],
  [
    /cirros/,
    linux({
      id: 'cirros',
      name: 'CirrOS',
      version: '0.6.3',
      prettyName: 'CirrOS 0.6.3',
      kernelRelease: '5.15.0-117-generic',
      defaultUser: 'cirros',
      agent: false,
    }),
  ],
  [
    /windows-11|win11/,
    {
      id: 'mswindows',
      name: 'Microsoft Windows',
      version: 'Microsoft Windows 11',
      prettyName: 'Windows 11 Enterprise',
      kernelRelease: '26100',
      kernelVersion: '10.0',
      defaultUser: 'Administrator',
      agent: true,
    },
  ],
  [
    /windows|win\d/,
    {
      id: 'mswindows',
      name: 'Microsoft Windows',
      version: 'Microsoft Windows Server 2022',
      prettyName: 'Windows Server 2022 Standard',
      kernelRelease: '20348',
      kernelVersion: '10.0',
      defaultUser: 'Administrator',
      agent: true,
    },
  ],
  [/fedora/, FEDORA],
];

/** The profile for a VM, derived from the names of its image, its preference or the VM; Fedora when none matches. */
export function guestProfileFor(names: readonly string[]): GuestProfile {
  for (const name of names) {
    const found = PROFILES.find(([pattern]) => pattern.test(name.toLowerCase()));
    if (found) return found[1];
  }
  return FEDORA;
}
