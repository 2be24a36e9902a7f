import type { DomainSpec } from '../domain-xml/domain-spec.js';
import { BUILT_IN_PROFILES, GENERIC_PROFILE, type GuestProfile } from '../guest-profiles/guest-profile.js';
import { FEATURES } from './domain-xml.js';

export const profileOf = (id: string): GuestProfile =>
  BUILT_IN_PROFILES.find((profile) => profile.id === id) ?? GENERIC_PROFILE;

export const ALL_HYPERV = [
  ...['relaxed', 'vapic', 'spinlocks', 'vpindex', 'runtime', 'synic', 'stimer', 'reset', 'vendor_id', 'frequencies'],
  ...['reenlightenment', 'tlbflush', 'ipi', 'evmcs', 'avic'],
];

const GIB = 1024 ** 3;

/** Domains that differ in every choice that the XML makes, by title. */
export const DOMAIN_VARIANTS: Readonly<Record<string, Partial<DomainSpec>>> = {
  'a minimal VM': {},
  'a VM that can grow': { cpu: 1, maxCpu: 2, memoryBytes: GIB, maxMemoryBytes: 2 * GIB },
  'a VM with direct I/O': { diskIo: { cache: 'none', io: 'io_uring' } },
  'a VM with native I/O': { diskIo: { cache: 'none', io: 'native' } },
  'a VM with a seed, an installation ISO and a network': {
    seed: '/images/headgate/seed.iso',
    installer: '/images/headgate/installer.iso',
    network: 'default',
  },
  'a VM with UEFI': { firmware: 'uefi', nvram: '/images/headgate/web-nvram.fd' },
  'a VM with Secure Boot and a TPM': { firmware: 'uefi-secure', nvram: '/images/headgate/web-nvram.fd', tpm: true },
  'Windows 11': {
    guest: profileOf('win11'),
    firmware: 'uefi-secure',
    nvram: '/images/headgate/web-nvram.fd',
    tpm: true,
    installer: '/images/headgate/installer.iso',
    seed: '/images/headgate/seed.iso',
    network: 'default',
  },
  'FreeBSD without an iothread': { guest: profileOf('freebsd'), features: { ...FEATURES, hasIoThreads: false } },
  'a VM on an older QEMU': {
    features: { ...FEATURES, hasVirtioVideo: false, hasIoThreads: false, hasUefi: false, tpmModels: [] },
  },
};
