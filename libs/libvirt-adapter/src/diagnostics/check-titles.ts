/** The titles of checks that do not pass, by the names of the checks. */
export const CHECK_TITLES: Readonly<Record<string, string>> = {
  libvirt: 'libvirt does not answer',
  qemu: "QEMU can't be used",
  acceleration: 'VMs have no hardware acceleration',
  'storage-pool': 'The storage pool needs attention',
  network: 'New VMs get no network',
  'guest-isolation': 'Guests can reach services of their host',
  'disc-writer': 'VMs get no cloud-init data',
  migration: 'Live migrations are not encrypted',
  virtlogd: "VMs can't start without virtlogd",
};
