import { buildDomainXml } from '../domain-xml/build-domain-xml.js';
import type { DomainSpec } from '../domain-xml/domain-spec.js';
import { NO_METADATA } from '../domain-xml/instance-metadata.js';
import { GENERIC_PROFILE } from '../guest-profiles/guest-profile.js';
import type { HypervisorFeatures } from '../host/hypervisor-features.js';

/** What libvirt 9.0 and QEMU 7.2 on Debian 12 can do. */
export const FEATURES: HypervisorFeatures = {
  maxVcpus: 288,
  hasUefi: true,
  hasSecureBoot: true,
  tpmModels: ['tpm-tis', 'tpm-crb'],
  hasIoThreads: true,
  hasVirtioVideo: true,
  hyperv: [],
  watchdog: 'i6300esb',
};

export const UUID = '2c749204-8322-4dfd-b324-cb2e556e0e9a';

/** The XML of a domain that the service created, with overrides. */
export const ownDomainXml = (overrides: Partial<DomainSpec> = {}): string => {
  const uuid = overrides.uuid ?? UUID;
  return buildDomainXml({
    name: 'web',
    uuid,
    cpu: 2,
    memoryBytes: 512 * 1024 ** 2,
    arch: 'x86_64',
    maxCpu: 2,
    accelerator: 'tcg',
    features: FEATURES,
    guest: GENERIC_PROFILE,
    firmware: 'bios',
    tpm: false,
    diskIo: {},
    disk: { path: '/images/headgate/web-2c749204.qcow2', format: 'qcow2' },
    serial: { socket: `/images/headgate/${uuid}.serial`, log: '/images/headgate/web-2c749204-serial.log' },
    vnc: 'socket',
    metadata: {
      ...NO_METADATA,
      owner: uuid,
      createdAt: '2026-01-01T00:00:00.000Z',
      volumes: [
        { pool: 'headgate', name: 'web-2c749204.qcow2', role: 'disk', bytes: 1024 ** 3 },
        { pool: 'headgate', name: 'web-2c749204-serial.log', role: 'serial-log' },
      ],
    },
    ...overrides,
  });
};

export interface ForeignDomain {
  readonly name: string;
  readonly uuid?: string;
  readonly metadata?: string;
  /** The `<disk>` elements. */
  readonly disks?: string;
  readonly log?: string;
  readonly hasAcpi?: boolean;
}

/** A domain that the service did not create: machine type pc, VNC on TCP, a pty. */
export const foreignDomainXml = ({
  name,
  uuid,
  metadata = '',
  disks = '',
  log,
  hasAcpi = true,
}: ForeignDomain): string => `
<domain type='qemu'>
  <name>${name}</name>
  ${uuid === undefined ? '' : `<uuid>${uuid}</uuid>`}
  <metadata>${metadata}</metadata>
  <memory unit='MiB'>128</memory>
  <vcpu>1</vcpu>
  <os><type arch='x86_64' machine='pc'>hvm</type><bios useserial='yes'/></os>
  <features>${hasAcpi ? '<acpi/>' : ''}</features>
  <devices>
    ${disks}
    <interface type='user'><model type='virtio'/></interface>
    <serial type='pty'>${log === undefined ? '' : `<log file='${log}' append='on'/>`}<target port='0'/></serial>
    <channel type='unix'><target type='virtio' name='org.qemu.guest_agent.0'/></channel>
    <graphics type='vnc' port='-1' autoport='yes' listen='127.0.0.1'/>
    <video><model type='vga'/></video>
  </devices>
</domain>`;

export const volumeDisk = (pool: string, volume: string): string =>
  `<disk type='volume' device='disk'><driver name='qemu' type='qcow2'/><source pool='${pool}' volume='${volume}'/><target dev='vda' bus='virtio'/></disk>`;

export const fileDisk = (path: string, format = 'qcow2', target = 'vda'): string =>
  `<disk type='file' device='disk'><driver name='qemu' type='${format}'/><source file='${path}'/><target dev='${target}' bus='virtio'/></disk>`;
