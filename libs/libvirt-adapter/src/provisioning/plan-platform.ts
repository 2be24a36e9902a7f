import type { Firmware, VmSpec } from '@headgate/domain-contracts';
import { GENERIC_PROFILE, type GuestProfile, type GuestProfiles } from '../guest-profiles/guest-profile.js';
import type { Host } from '../host/host.js';
import type { Refuse } from './plan-source.js';

/** The virtual machine around the boot disk. */
export interface Platform {
  readonly guest: GuestProfile;
  readonly firmware: Firmware;
  readonly tpm: boolean;
  /** The number of CPUs up to which the running VM can grow. */
  readonly maxCpu: number;
  /** The memory up to which the running VM can grow; absent when it can't. */
  readonly maxMemoryBytes?: number;
}

/** A running VM can grow to this multiple of its size, as far as the machine has that much. */
const GROWTH_FACTOR = 4;
/** Smaller VMs can't grow: Linux reserves 64 MiB in guests whose memory may grow beyond 4 GiB. */
const MIN_GROWING_BYTES = 1024 ** 3;
const MEMORY_STEP_BYTES = 2 * 1024 ** 2;

/** Chooses the platform of a new VM, and refuses what this machine does not have. */
export async function planPlatform(
  spec: VmSpec,
  { host, profiles }: { readonly host: Host; readonly profiles: GuestProfiles },
  refuse: Refuse,
): Promise<Platform> {
  const guest = await findProfile(spec, profiles, refuse);
  const firmware = spec.firmware ?? defaultFirmware(host, guest);
  const tpm = spec.tpm ?? guest.needsTrustedBoot;
  refuseFirmware({ spec, host, firmware }, refuse);
  if (tpm && host.features.tpmModels.length === 0) {
    refuse(
      'NOT_SUPPORTED',
      'tpm: this machine has no emulated TPM 2.0.',
      'Install swtpm and swtpm-tools, or set tpm to false.',
    );
  }
  if (spec.cpu > host.features.maxVcpus) {
    refuse(
      'INVALID_INPUT',
      `cpu: ${spec.cpu} is more than QEMU supports on this machine.`,
      `Use at most ${host.features.maxVcpus}.`,
    );
  }
  return { guest, firmware, tpm, ...growth(spec, host) };
}

async function findProfile({ os, source }: VmSpec, profiles: GuestProfiles, refuse: Refuse): Promise<GuestProfile> {
  if (os !== undefined) {
    const profile = await profiles.find(os);
    if (profile) return profile;
    refuse(
      'INVALID_INPUT',
      `os: no operating system with the ID "${os}" is known.`,
      'Use a short ID of libosinfo, such as debian12 or win11, or omit os.',
    );
  }
  // Entries of the catalog are named like `debian-12`.
  const named = source.kind === 'image' ? await profiles.find(source.entry.name.replace('-', '')) : undefined;
  return named ?? GENERIC_PROFILE;
}

function defaultFirmware({ arch }: Host, { needsUefi, needsTrustedBoot }: GuestProfile): Firmware {
  if (needsTrustedBoot) return 'uefi-secure';
  return needsUefi || arch !== 'x86_64' ? 'uefi' : 'bios';
}

function refuseFirmware(
  { spec: { source }, host, firmware }: { spec: VmSpec; host: Host; firmware: Firmware },
  refuse: Refuse,
): void {
  const { hasUefi, hasSecureBoot } = host.features;
  if (firmware === 'bios') {
    if (host.arch !== 'x86_64')
      refuse('NOT_SUPPORTED', `firmware: VMs on ${host.arch} have no BIOS.`, 'Use uefi, or omit firmware.');
    return;
  }
  if (source.kind === 'image' && source.entry.builtLocally !== undefined) {
    refuse(
      'NOT_SUPPORTED',
      `firmware: the image ${source.entry.name} does not start with UEFI.`,
      'Use bios, or choose another image.',
    );
  }
  if (!hasUefi) {
    refuse(
      'NOT_SUPPORTED',
      'firmware: this machine has no UEFI firmware for VMs.',
      'Install ovmf (edk2-ovmf on Fedora), or use bios.',
    );
  } else if (firmware === 'uefi-secure' && !hasSecureBoot) {
    refuse(
      'NOT_SUPPORTED',
      'firmware: this machine has no UEFI firmware with Secure Boot and enrolled keys.',
      'Install ovmf (edk2-ovmf on Fedora), or use uefi.',
    );
  }
}

function growth({ cpu, memoryBytes }: VmSpec, { cpus, memoryBytes: hostBytes, features }: Host) {
  const maxCpu = Math.max(cpu, Math.min(cpu * GROWTH_FACTOR, cpus, features.maxVcpus));
  const limit = Math.min(memoryBytes * GROWTH_FACTOR, hostBytes);
  const maxMemoryBytes = Math.floor(limit / MEMORY_STEP_BYTES) * MEMORY_STEP_BYTES;
  const canGrow = memoryBytes >= MIN_GROWING_BYTES && maxMemoryBytes > memoryBytes;
  return { maxCpu, ...(canGrow && { maxMemoryBytes }) };
}
