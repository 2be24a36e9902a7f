import type { GuestFacts } from './guest-facts.js';

const COMMANDS = [
  'guest-info',
  'guest-ping',
  'guest-get-osinfo',
  'guest-get-fsinfo',
  'guest-fsfreeze-freeze',
  'guest-shutdown',
];
const USED_FRACTION = 0.23;

/** `status.guestOSInfo` of a VMI, and `os` of its guest info. */
export function guestOsInfo({ profile }: GuestFacts) {
  return {
    name: profile.name,
    id: profile.id,
    version: profile.version,
    versionId: profile.version,
    prettyName: profile.prettyName,
    kernelRelease: profile.kernelRelease,
    kernelVersion: profile.kernelVersion,
    machine: 'x86_64',
  };
}

/** The logged-in users: the profile's own user, who has been logged in since shortly after boot. */
export function guestUsers({ profile, bootedAt }: GuestFacts) {
  return [{ userName: profile.defaultUser, domain: '', loginTime: Math.floor(bootedAt / 1000) + 30 }];
}

/** The mounted file systems, one per disk that is not read-only. */
export function guestFileSystems({ disks, profile }: GuestFacts) {
  const windows = profile.id === 'mswindows';
  return disks.map(({ device, bytes, serial }, index) => ({
    diskName: `${device}1`,
    mountPoint: windows ? `${String.fromCharCode(67 + index)}:\\` : index === 0 ? '/' : `/mnt/${device}`,
    fileSystemType: windows ? 'NTFS' : 'ext4',
    usedBytes: Math.floor(bytes * USED_FRACTION),
    totalBytes: bytes,
    disk: [{ busType: 'virtio', ...(serial ? { serial } : {}) }],
  }));
}

/** The response body of `guestosinfo`. */
export function guestAgentInfo(facts: GuestFacts, fsFreezeStatus: 'thawed' | 'frozen') {
  return {
    guestAgentVersion: '9.2.0',
    supportedCommands: COMMANDS.map((name) => ({ name, enabled: true })),
    hostname: facts.hostname,
    os: guestOsInfo(facts),
    timezone: 'UTC, 0',
    userList: guestUsers(facts),
    fsInfo: { disks: guestFileSystems(facts) },
    fsFreezeStatus,
  };
}
