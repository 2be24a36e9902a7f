import type { DomainState } from './domain-state.js';
import type { CallOptions } from './call-options.js';

export interface DomainId {
  readonly uuid: string;
  /** Its name in libvirt. */
  readonly name: string;
}

/** XML documents of a domain: https://libvirt.org/formatdomain.html */
export interface DomainDocuments {
  readonly id: DomainId;
  readonly xml: string;
  /** The configuration of the next start; absent if it is the same document. */
  readonly persistentXml?: string;
}

export interface DomainReading extends DomainDocuments {
  readonly state: DomainState;
  /** Virtual sizes of disks in bytes by target (`vda`); without those whose file is missing. */
  readonly diskBytes: ReadonlyMap<string, number>;
}

export interface InspectedDomain {
  readonly xml: string;
  readonly state: DomainState;
  readonly isPersistent: boolean;
}

export interface MetadataChange {
  /** XML namespace of the element. */
  readonly namespace: string;
  readonly prefix: string;
  /** The new element, without a namespace declaration. */
  readonly xml: string;
  readonly inLiveDomain: boolean;
  readonly inPersistentDomain: boolean;
}

export interface DeviceChange {
  /** The element of the device. */
  readonly xml: string;
  readonly inLiveDomain: boolean;
  readonly inPersistentDomain: boolean;
}

/** The statistics of a running domain. */
export interface DomainStatistics {
  readonly id: DomainId;
  /** By libvirt's names, such as `cpu.time`. Source: virConnectGetAllDomainStats. */
  readonly fields: StatisticFields;
}

export type StatisticFields = ReadonlyMap<string, number | string | boolean>;

export interface InterfaceAddress {
  /** The name of the interface in the guest, or of its host device. */
  readonly interfaceName: string;
  /** Of the network card, as libvirt or the agent writes it; absent for an interface without one. */
  readonly mac?: string;
  readonly address: string;
}

/** All methods that take a UUID throw INSTANCE_NOT_FOUND if the domain does not exist, unless they say otherwise. */
export abstract class DomainOperations {
  abstract list(): Promise<DomainId[]>;
  /** @returns undefined if there is no domain of that name */
  abstract lookUp(name: string): Promise<DomainId | undefined>;
  /** Reads domains in bulk. Leaves out those that no longer exist. */
  abstract read(ids: readonly DomainId[]): Promise<DomainReading[]>;
  /** Reads XML in bulk. Leaves out domains that no longer exist. */
  abstract documents(ids: readonly DomainId[]): Promise<DomainDocuments[]>;
  /** @returns undefined if the domain does not exist */
  abstract inspect(uuid: string): Promise<InspectedDomain | undefined>;
  abstract xml(uuid: string, options: { readonly withSecrets: boolean }): Promise<string>;
  /** The configuration of the next start, with its secrets: what `define` accepts to change it. */
  abstract persistentXml(uuid: string): Promise<string>;

  abstract define(xml: string): Promise<void>;
  /**
   * Removes the definition with saved state, NVRAM unless it is kept, and the metadata of snapshots and checkpoints.
   */
  abstract undefine(uuid: string, options?: CallOptions & { readonly keepsNvram?: boolean }): Promise<void>;
  abstract setMetadata(uuid: string, change: MetadataChange): Promise<void>;

  /** Whether libvirt starts the domain with its host. */
  abstract autostart(uuid: string): Promise<boolean>;
  abstract setAutostart(uuid: string, isOn: boolean): Promise<void>;
  /** Changes the number of CPUs, up to the maximum of the domain. */
  abstract setCpus(uuid: string, count: number, scope: Omit<DeviceChange, 'xml'>): Promise<void>;
  /** Binds a CPU of a running domain to CPUs of its host. */
  abstract pinVcpu(uuid: string, vcpu: number, cpus: readonly number[]): Promise<void>;
  /** Binds the emulator of a running domain to CPUs of its host. */
  abstract pinEmulator(uuid: string, cpus: readonly number[]): Promise<void>;
  /** Makes a disk of a running domain larger; its guest sees the new size. @param target such as `vdb` */
  abstract resizeDisk(uuid: string, target: string, bytes: number): Promise<void>;
  /** Adds a device. */
  abstract attachDevice(uuid: string, change: DeviceChange): Promise<void>;
  /** Removes a device. A running guest may still hold it afterwards: its XML shows when it is gone. */
  abstract detachDevice(uuid: string, change: DeviceChange): Promise<void>;
  /** Changes a device, such as the medium of a CD-ROM drive. */
  abstract updateDevice(uuid: string, change: DeviceChange): Promise<void>;
  /** The bytes that the running guest has read from a disk. @param target such as `vdb` */
  abstract readBytes(uuid: string, target: string): Promise<number>;

  /**
   * Statistics of the CPU time, the memory, the disks and the interfaces of all running domains, in bulk. A domain that
   * does not answer immediately lacks some of them.
   */
  abstract statistics(): Promise<DomainStatistics[]>;

  /** Creates a transient domain, which is gone when its guest ends. The guest is paused until `resume`. */
  abstract createPaused(xml: string, options?: CallOptions): Promise<void>;
  /**
   * Writes the screen of a running guest to a new file, as PNG or PPM.
   * @throws DomainError BACKEND_FAILED if it takes more than `maxBytes`
   */
  abstract screenshot(uuid: string, file: string, maxBytes: number): Promise<void>;
  abstract start(uuid: string, options?: CallOptions): Promise<void>;
  abstract shutdown(uuid: string): Promise<void>;
  abstract reboot(uuid: string): Promise<void>;
  abstract reset(uuid: string): Promise<void>;
  abstract suspend(uuid: string): Promise<void>;
  abstract resume(uuid: string): Promise<void>;
  abstract wakeUp(uuid: string): Promise<void>;
  abstract destroy(uuid: string, options?: CallOptions): Promise<void>;

  abstract interfaceAddresses(
    uuid: string,
    source: 'agent' | 'lease',
    options?: CallOptions,
  ): Promise<InterfaceAddress[]>;
}
