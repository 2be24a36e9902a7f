import { attribute, element, elements, parseXml, text, type XmlElement } from '../xml/xml.js';
import type { LibvirtConnection } from '../connection/libvirt-connection.js';

/** Watchdog devices: `itco` is part of the chipset of q35. */
export type Watchdog = 'itco' | 'i6300esb';

/** What libvirt and QEMU on a machine can give to a domain of one type, architecture and machine. */
export interface HypervisorFeatures {
  readonly maxVcpus: number;
  readonly hasUefi: boolean;
  readonly hasSecureBoot: boolean;
  /** Models of an emulated TPM 2.0; empty when it is not available. */
  readonly tpmModels: readonly string[];
  readonly hasIoThreads: boolean;
  readonly hasVirtioVideo: boolean;
  /** Enlightenments for Windows. https://libvirt.org/formatdomain.html#hypervisor-features */
  readonly hyperv: readonly string[];
  readonly watchdog: Watchdog;
}

interface MachineKind {
  readonly arch: string;
  readonly accelerator: 'kvm' | 'tcg';
}

/** The version of libvirt that has the watchdog of q35. */
const ITCO_VERSION = [9, 1];

export const machineOf = (arch: string): 'q35' | 'virt' => (arch === 'x86_64' ? 'q35' : 'virt');

export async function readHypervisorFeatures(
  { host }: LibvirtConnection,
  kind: MachineKind,
): Promise<HypervisorFeatures> {
  const { arch, accelerator } = kind;
  const [version, capabilities] = await Promise.all([
    host.version(),
    host.domainCapabilities({ virtType: accelerator === 'kvm' ? 'kvm' : 'qemu', arch, machine: machineOf(arch) }),
  ]);
  return parseHypervisorFeatures(capabilities, { version, arch });
}

/** @param capabilities the output of `virsh domcapabilities`: https://libvirt.org/formatdomaincaps.html */
export function parseHypervisorFeatures(
  capabilities: string,
  { version, arch }: { version: string; arch: string },
): HypervisorFeatures {
  const root = element(parseXml(capabilities), 'domainCapabilities');
  const os = element(root, 'os');
  const devices = element(root, 'devices');
  const tpm = element(devices, 'tpm');
  const hasTpm = isSupported(tpm) && valuesOf(tpm, 'backendModel').includes('emulator');
  // libvirt 8.6 and older do not list versions.
  const tpmVersions = valuesOf(tpm, 'backendVersion');
  return {
    maxVcpus: Number(attribute(element(root, 'vcpu'), 'max') ?? 1),
    hasUefi: isSupported(os) && valuesOf(os, 'firmware').includes('efi'),
    hasSecureBoot: valuesOf(element(os, 'loader'), 'secure').includes('yes'),
    tpmModels: hasTpm && (tpmVersions.length === 0 || tpmVersions.includes('2.0')) ? valuesOf(tpm, 'model') : [],
    hasIoThreads: isSupported(element(root, 'iothreads')),
    hasVirtioVideo: valuesOf(element(devices, 'video'), 'modelType').includes('virtio'),
    hyperv: valuesOf(element(element(root, 'features'), 'hyperv'), 'features'),
    watchdog: arch === 'x86_64' && isAtLeast(version, ITCO_VERSION) ? 'itco' : 'i6300esb',
  };
}

const isSupported = (feature: XmlElement | undefined): boolean => attribute(feature, 'supported') === 'yes';

const valuesOf = (feature: XmlElement | undefined, name: string): string[] =>
  elements(feature, 'enum')
    .filter((entry) => attribute(entry, 'name') === name)
    .flatMap((entry) => elements(entry, 'value').map((value) => text(value) ?? ''));

/** @param output such as `libvirt 9.0.0, QEMU 7.2.22` */
function isAtLeast(output: string, [major = 0, minor = 0]: readonly number[]): boolean {
  const [, foundMajor, foundMinor] = /libvirt (\d+)\.(\d+)/.exec(output) ?? [];
  return Number(foundMajor) > major || (Number(foundMajor) === major && Number(foundMinor) >= minor);
}
