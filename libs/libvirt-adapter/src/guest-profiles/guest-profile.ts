/** The operating systems that need different virtual hardware. */
export type OsFamily = 'linux' | 'windows' | 'other';

/** What an operating system supports without additional drivers, and what it needs. */
export interface GuestProfile {
  /** The short ID of libosinfo, such as `debian11` or `win11`. */
  readonly id: string;
  readonly name: string;
  readonly family: OsFamily;
  readonly hasVirtioDisk: boolean;
  readonly hasVirtioNetwork: boolean;
  readonly hasVirtioInput: boolean;
  /** Whether the installed system boots with UEFI only. */
  readonly needsUefi: boolean;
  /** Whether the installer refuses a machine without Secure Boot and TPM 2.0. */
  readonly needsTrustedBoot: boolean;
}

/** A guest about which nothing is known: current Linux distributions have drivers for all virtio devices. */
export const GENERIC_PROFILE: GuestProfile = {
  id: 'generic',
  name: 'Generic',
  family: 'linux',
  hasVirtioDisk: true,
  hasVirtioNetwork: true,
  hasVirtioInput: true,
  needsUefi: false,
  needsTrustedBoot: false,
};

const windows = (id: string, name: string, needsTrustedBoot = false): GuestProfile => ({
  id,
  name,
  family: 'windows',
  hasVirtioDisk: false,
  hasVirtioNetwork: false,
  hasVirtioInput: false,
  needsUefi: needsTrustedBoot,
  needsTrustedBoot,
});

/** A Windows whose version is unknown. */
export const ANY_WINDOWS = 'windows';

/** The profiles that exist without the data of libosinfo. They take precedence over none of its entries. */
export const BUILT_IN_PROFILES: readonly GuestProfile[] = [
  GENERIC_PROFILE,
  { ...GENERIC_PROFILE, id: 'linux', name: 'Linux' },
  windows(ANY_WINDOWS, 'Microsoft Windows'),
  windows('win10', 'Microsoft Windows 10'),
  windows('win11', 'Microsoft Windows 11', true),
  windows('win2k16', 'Microsoft Windows Server 2016'),
  windows('win2k19', 'Microsoft Windows Server 2019'),
  windows('win2k22', 'Microsoft Windows Server 2022'),
  windows('win2k25', 'Microsoft Windows Server 2025'),
  {
    ...GENERIC_PROFILE,
    id: 'freebsd',
    name: 'FreeBSD',
    family: 'other',
    hasVirtioInput: false,
  },
];

/** The operating system as it is recorded with a VM; nothing if it is unknown. */
export const recordedOs = ({ id }: GuestProfile): { readonly os?: string } =>
  id === GENERIC_PROFILE.id ? {} : { os: id };

export interface GuestProfiles {
  /** @returns undefined for an operating system that is not known */
  find(id: string): Promise<GuestProfile | undefined>;

  /** The short ID of an entry of libosinfo, by its URL. @returns undefined for an entry that is not known */
  shortIdOf?(url: string): Promise<string | undefined>;
}
