import { DomainError, messageOf } from '@headgate/domain-contracts';
import { attribute, element, elements, parseXml, text, type XmlElement } from '../xml/xml.js';
import { NO_METADATA, readMetadata, type InstanceMetadata } from './instance-metadata.js';

export interface DiskDescription {
  /** `vda`, `sda`, … */
  readonly target: string;
  readonly device: string;
  /** A file's or a block device's path. */
  readonly path?: string;
  readonly pool?: string;
  readonly volume?: string;
  readonly bootOrder?: number;
  /** Paths of the backing files that the XML names, topmost first. */
  readonly backingPaths: readonly string[];
}

export interface NicDescription {
  readonly mac: string;
  readonly type: string;
  readonly source: string;
  readonly model: string;
}

export interface SerialDescription {
  /** `pty`, `unix`, … */
  readonly type: string;
  readonly path?: string;
  readonly logFile?: string;
}

export interface VncDescription {
  readonly socket?: string;
  readonly address?: string;
  /** Absent while the domain is not running. */
  readonly port?: number;
  readonly websocketOnly?: boolean;
}

/** The parts of a domain's XML that the service uses. */
export interface DomainDescription {
  readonly name: string;
  readonly uuid: string;
  /** `kvm`, `qemu`, … */
  readonly type: string;
  readonly cpu: number;
  readonly memoryBytes: number;
  readonly arch: string;
  readonly disks: readonly DiskDescription[];
  readonly nics: readonly NicDescription[];
  readonly serial?: SerialDescription;
  readonly vnc?: VncDescription;
  readonly graphics: readonly string[];
  /** Whether the domain has a guest agent channel, and whether an agent is connected to it. */
  readonly agent: 'none' | 'disconnected' | 'connected';
  readonly metadata: InstanceMetadata;
  /** The reason why the metadata, or all of the XML, can't be read. The description is incomplete then. */
  readonly unreadable?: string;
  readonly document: XmlElement;
}

/**
 * Parses the XML of a domain. Any program may put any elements into the metadata of a domain; metadata that the parser
 * rejects is skipped.
 * @throws DomainError BACKEND_FAILED when the text is not domain XML
 */
export function parseDomain(xml: string): { domain: XmlElement; unreadable?: string } {
  try {
    return { domain: parseDomainElement(xml) };
  } catch (error) {
    const unreadable = `Its metadata can't be read (${messageOf(error)}).`;
    return { domain: parseDomainElement(xml.replace(/<metadata>[\s\S]*<\/metadata>/, '')), unreadable };
  }
}

function parseDomainElement(xml: string): XmlElement {
  try {
    const domain = element(parseXml(xml), 'domain');
    if (domain && text(domain, 'uuid')) return domain;
  } catch (cause) {
    throw new DomainError('BACKEND_FAILED', messageOf(cause), { cause });
  }
  throw new DomainError('BACKEND_FAILED', 'libvirt returned something other than domain XML.');
}

/** The description of a domain whose XML can't be parsed at all. */
export const undescribedDomain = (name: string, uuid: string, error: unknown): DomainDescription => ({
  name,
  uuid,
  type: '',
  cpu: 0,
  memoryBytes: 0,
  arch: '',
  disks: [],
  nics: [],
  graphics: [],
  agent: 'none',
  metadata: NO_METADATA,
  unreadable: `Its XML can't be read (${messageOf(error)}).`,
  document: {},
});

/** @throws DomainError BACKEND_FAILED when the text is not domain XML */
export function describeDomain(xml: string): DomainDescription {
  const { domain, unreadable } = parseDomain(xml);
  const devices = element(domain, 'devices');
  const graphics = elements(devices, 'graphics');
  const vcpu = element(domain, 'vcpu');
  return {
    name: text(domain, 'name') ?? '',
    uuid: text(domain, 'uuid') ?? '',
    type: attribute(domain, 'type') ?? '',
    cpu: Number(attribute(vcpu, 'current') ?? text(vcpu) ?? 1),
    memoryBytes: memoryBytes(element(domain, 'memory')),
    arch: attribute(element(element(domain, 'os'), 'type'), 'arch') ?? '',
    disks: elements(devices, 'disk').map(describeDisk),
    nics: elements(devices, 'interface').map(describeNic),
    serial: describeSerial(elements(devices, 'serial')[0] ?? elements(devices, 'console')[0]),
    vnc: describeVnc(graphics.find((entry) => attribute(entry, 'type') === 'vnc')),
    graphics: graphics.map((entry) => attribute(entry, 'type') ?? ''),
    agent: agentState(devices),
    metadata: readMetadata(domain),
    ...(unreadable !== undefined && { unreadable }),
    document: domain,
  };
}

const orderOf = ({ bootOrder = Number.POSITIVE_INFINITY }: DiskDescription): number => bootOrder;

/** The disk that the VM boots from: the one with the lowest boot order, or else the first. */
export const bootDisk = ({ disks }: Pick<DomainDescription, 'disks'>): DiskDescription | undefined =>
  disks
    .filter(({ device }) => device === 'disk' || device === 'lun')
    .reduce<DiskDescription | undefined>(
      (best, disk) => (best === undefined || orderOf(disk) < orderOf(best) ? disk : best),
      undefined,
    );

const UNITS: Record<string, number> = {
  b: 1,
  bytes: 1,
  k: 1024,
  KiB: 1024,
  M: 1024 ** 2,
  MiB: 1024 ** 2,
  G: 1024 ** 3,
  GiB: 1024 ** 3,
};

const memoryBytes = (memory: XmlElement | undefined): number =>
  Number(text(memory) ?? 0) * (UNITS[attribute(memory, 'unit') ?? 'KiB'] ?? 1024);

function describeDisk(disk: XmlElement): DiskDescription {
  const source = element(disk, 'source');
  const order = attribute(elements(disk, 'boot')[0], 'order');
  return {
    target: attribute(element(disk, 'target'), 'dev') ?? '',
    device: attribute(disk, 'device') ?? 'disk',
    path: attribute(source, 'file') ?? attribute(source, 'dev'),
    pool: attribute(source, 'pool'),
    volume: attribute(source, 'volume'),
    ...(order !== undefined && { bootOrder: Number(order) }),
    backingPaths: backingPaths(disk),
  };
}

function backingPaths(disk: XmlElement): string[] {
  const paths: string[] = [];
  for (let store = element(disk, 'backingStore'); store; store = element(store, 'backingStore')) {
    const source = element(store, 'source');
    const path = attribute(source, 'file') ?? attribute(source, 'dev');
    if (path !== undefined) paths.push(path);
  }
  return paths;
}

function describeNic(nic: XmlElement): NicDescription {
  const source = element(nic, 'source');
  return {
    mac: attribute(element(nic, 'mac'), 'address') ?? '',
    type: attribute(nic, 'type') ?? '',
    source: attribute(source, 'network') ?? attribute(source, 'bridge') ?? attribute(source, 'dev') ?? '',
    model: attribute(element(nic, 'model'), 'type') ?? '',
  };
}

function describeSerial(serial: XmlElement | undefined): SerialDescription | undefined {
  if (!serial) return undefined;
  return {
    type: attribute(serial, 'type') ?? '',
    path: attribute(element(serial, 'source'), 'path') ?? attribute(serial, 'tty'),
    logFile: attribute(element(serial, 'log'), 'file'),
  };
}

function describeVnc(vnc: XmlElement | undefined): VncDescription | undefined {
  if (!vnc) return undefined;
  const listen = elements(vnc, 'listen')[0];
  const port = Number(attribute(vnc, 'port') ?? -1);
  return {
    socket: attribute(vnc, 'socket') ?? attribute(listen, 'socket'),
    address: attribute(listen, 'address') ?? attribute(vnc, 'listen'),
    ...(port > 0 && { port }),
  };
}

function agentState(devices: XmlElement | undefined): DomainDescription['agent'] {
  const target = elements(devices, 'channel')
    .map((channel) => element(channel, 'target'))
    .find((entry) => attribute(entry, 'name') === 'org.qemu.guest_agent.0');
  if (!target) return 'none';
  return attribute(target, 'state') === 'connected' ? 'connected' : 'disconnected';
}
