/**
 * The programs that the local backend needs, and their packages. Any one of its programs or files meets a requirement.
 * An optional requirement has the sentence that describes the limitation without it.
 * @typedef {{ what: string, programs: string[], files?: string[], apt: string[], dnf: string[], withoutIt?: string }}
 *   Requirement
 * @type {Requirement[]}
 */
export const REQUIREMENTS = [
  {
    what: 'QEMU',
    programs: ['qemu-system-x86_64'],
    apt: ['qemu-system-x86'],
    dnf: ['qemu-system-x86-core', 'qemu-device-display-virtio-gpu', 'qemu-device-display-virtio-vga'],
  },
  { what: 'qemu-img', programs: ['qemu-img'], apt: ['qemu-utils'], dnf: ['qemu-img'] },
  { what: 'virsh', programs: ['virsh'], apt: ['libvirt-clients'], dnf: ['libvirt-client'] },
  {
    what: 'libvirt',
    programs: ['libvirtd', 'virtqemud'],
    apt: ['libvirt-daemon', 'libvirt-daemon-driver-qemu', 'libvirt-daemon-system'],
    dnf: ['libvirt-daemon-kvm', 'libvirt-daemon-driver-storage-core'],
  },
  { what: 'virtlogd', programs: ['virtlogd'], apt: ['libvirt-daemon'], dnf: ['libvirt-daemon-log'] },
  { what: 'an ISO 9660 writer', programs: ['xorriso', 'genisoimage', 'mkisofs'], apt: ['xorriso'], dnf: ['xorriso'] },
  {
    what: 'dnsmasq',
    programs: ['dnsmasq'],
    apt: ['dnsmasq-base'],
    dnf: ['libvirt-daemon-driver-network', 'dnsmasq'],
    withoutIt: 'VMs get no network, because libvirt needs dnsmasq for one',
  },
  {
    what: 'UEFI firmware',
    programs: [],
    files: ['/usr/share/OVMF', '/usr/share/edk2/ovmf'],
    apt: ['ovmf'],
    dnf: ['edk2-ovmf'],
    withoutIt: 'VMs start with BIOS only, because there is no UEFI firmware',
  },
  {
    what: 'swtpm',
    programs: ['swtpm_setup'],
    apt: ['swtpm', 'swtpm-tools'],
    dnf: ['swtpm', 'swtpm-tools'],
    withoutIt: 'VMs get no TPM, because libvirt needs swtpm for one',
  },
  {
    what: 'data of libosinfo',
    programs: [],
    files: ['/usr/share/osinfo/os'],
    apt: ['osinfo-db'],
    dnf: ['osinfo-db'],
    withoutIt: 'few operating systems are known for new VMs, because osinfo-db is missing',
  },
  { what: 'mke2fs', programs: ['mke2fs'], apt: ['e2fsprogs'], dnf: ['e2fsprogs'] },
];

/**
 * Without systemd, Debian's libvirt needs its SysV variant; otherwise apt installs or upgrades systemd.
 * libvirt-daemon-system creates the user `libvirt-qemu`, without which libvirtd does not start.
 * @param {Requirement[]} missing
 * @param {'apt' | 'dnf'} packager
 * @param {boolean} systemd
 * @returns {string[]}
 */
export function packagesFor(missing, packager, systemd) {
  const names = missing.flatMap((requirement) => requirement[packager]);
  if (packager === 'apt' && !systemd && names.includes('libvirt-daemon-system'))
    names.push('libvirt-daemon-system-sysv');
  return [...new Set(names)];
}
