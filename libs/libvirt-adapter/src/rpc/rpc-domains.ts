import { createWriteStream } from 'node:fs';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { DomainError } from '@headgate/domain-contracts';
import {
  closeConnection,
  cpuMapOf,
  domainOf,
  placementProcedures,
  procedures,
  type Procedure,
  type TypedValue,
  type WireDomain,
} from '@headgate/libvirt-rpc';
import type { CallOptions } from '../connection/call-options.js';
import {
  DomainOperations,
  type DeviceChange,
  type DomainDocuments,
  type DomainId,
  type DomainReading,
  type DomainStatistics,
  type InspectedDomain,
  type InterfaceAddress,
  type MetadataChange,
} from '../connection/domain-operations.js';
import { domainStateOf, type DomainState } from '../connection/domain-state.js';
import type { RpcLink } from './rpc-link.js';

/** `virDomainXMLFlags`. */
const XML_SECURE = 1;
const XML_INACTIVE = 2;
/** `virDomainStatsTypes`. */
const STATS_STATE = 1;
const STATS_CPU_TOTAL = 2;
const STATS_BALLOON = 4;
const STATS_INTERFACE = 16;
const STATS_BLOCK = 32;
/** `VIR_CONNECT_GET_ALL_DOMAINS_STATS_NOWAIT`: a guest whose QEMU hangs does not delay the others. */
const STATS_NOWAIT = 2 ** 29;
/** `VIR_CONNECT_LIST_DOMAINS_ACTIVE`. */
const LIST_ACTIVE = 1;
/** The statistics of more domains might exceed the size of a message. */
const DOMAINS_PER_CALL = 4096;
/** libvirt asks QEMU for each of them, one after another. */
const RUNNING_DOMAINS_PER_CALL = 1024;
/** `virDomainUndefineFlagsValues`: saved state, metadata of snapshots, metadata of checkpoints. */
const UNDEFINE_LEFTOVERS = 1 | 2 | 16;
const UNDEFINE_NVRAM = 4;
const UNDEFINE_KEEP_NVRAM = 8;
/** `virDomainMetadataType` and `virDomainModificationImpact`. */
const METADATA_ELEMENT = 2;
const AFFECT_LIVE = 1;
const AFFECT_CONFIG = 2;
/** `virDomainInterfaceAddressesSource`. */
const ADDRESS_SOURCES = { lease: 0, agent: 1 } as const;
/** `VIR_DOMAIN_BLOCK_RESIZE_BYTES`. */
const RESIZE_IN_BYTES = 1;
const BLOCK_INFO_TIMEOUT_MS = 5000;
const SCREENSHOT_TIMEOUT_MS = 20_000;
/** `VIR_DOMAIN_START_PAUSED`. */
const START_PAUSED = 1;

export interface RpcDomainsDeps {
  readonly link: RpcLink;
  /** Another connection for calls that take long, such as starting QEMU. */
  readonly slowLink: RpcLink;
}

type Stats = ReadonlyMap<string, TypedValue>;

export class RpcDomains extends DomainOperations {
  private readonly link: RpcLink;
  private readonly slowLink: RpcLink;

  constructor({ link, slowLink }: RpcDomainsDeps) {
    super();
    this.link = link;
    this.slowLink = slowLink;
  }

  override async list(): Promise<DomainId[]> {
    const args = { needResults: true, flags: 0 };
    const { domains } = await this.link.call(procedures.connectListAllDomains, args);
    return domains.map(({ uuid, name }) => ({ uuid, name }));
  }

  override lookUp(name: string): Promise<DomainId | undefined> {
    return ifPresent(
      this.link
        .call(procedures.domainLookupByName, { name })
        .then(({ domain }) => ({ uuid: domain.uuid, name: domain.name })),
    );
  }

  /** State and disks of all of them come from one call. */
  override async read(ids: readonly DomainId[]): Promise<DomainReading[]> {
    const readings: (DomainReading | undefined)[] = [];
    for (let from = 0; from < ids.length; from += DOMAINS_PER_CALL) {
      const domains = ids.slice(from, from + DOMAINS_PER_CALL).map(({ uuid }) => domainOf(uuid));
      const args = { domains, stats: STATS_STATE | STATS_BLOCK, flags: STATS_NOWAIT };
      const { records } = await this.link.call(procedures.connectGetAllDomainStats, args);
      readings.push(...(await Promise.all(records.map(({ domain, stats }) => this.complete(domain, stats)))));
    }
    return readings.filter((reading) => reading !== undefined);
  }

  override async documents(ids: readonly DomainId[]): Promise<DomainDocuments[]> {
    const documents = await Promise.all(ids.map((id) => ifPresent(this.documentsOf(id, true))));
    return documents.filter((one) => one !== undefined);
  }

  override inspect(uuid: string): Promise<InspectedDomain | undefined> {
    const domain = domainOf(uuid);
    return ifPresent(
      Promise.all([
        this.xmlOf(domain, 0),
        this.link.call(procedures.domainGetState, { domain, flags: 0 }),
        this.link.call(procedures.domainIsPersistent, { domain }),
      ]).then(([xml, { state, reason }, { isPersistent }]) => ({
        xml,
        state: domainStateOf(state, reason),
        isPersistent,
      })),
    );
  }

  override xml(uuid: string, { withSecrets }: { readonly withSecrets: boolean }): Promise<string> {
    return this.xmlOf(domainOf(uuid), withSecrets ? XML_SECURE : 0);
  }

  override persistentXml(uuid: string): Promise<string> {
    return this.xmlOf(domainOf(uuid), XML_SECURE | XML_INACTIVE);
  }

  override async define(xml: string): Promise<void> {
    await this.link.call(procedures.domainDefineXmlFlags, { xml, flags: 0 });
  }

  override undefine(
    uuid: string,
    { keepsNvram = false, ...options }: CallOptions & { readonly keepsNvram?: boolean } = {},
  ): Promise<void> {
    const flags = UNDEFINE_LEFTOVERS | (keepsNvram ? UNDEFINE_KEEP_NVRAM : UNDEFINE_NVRAM);
    const args = { domain: domainOf(uuid), flags };
    return this.link.call(procedures.domainUndefineFlags, args, { ...options, isSlow: true });
  }

  override async autostart(uuid: string): Promise<boolean> {
    return (await this.link.call(procedures.domainGetAutostart, { domain: domainOf(uuid) })).autostart;
  }

  override setCpus(uuid: string, count: number, scope: Omit<DeviceChange, 'xml'>): Promise<void> {
    const args = { domain: domainOf(uuid), count, flags: impactOf(scope) };
    return this.link.call(procedures.domainSetVcpusFlags, args, { isSlow: true });
  }

  override pinVcpu(uuid: string, vcpu: number, cpus: readonly number[]): Promise<void> {
    const args = { domain: domainOf(uuid), vcpu, cpuMap: cpuMapOf(cpus), flags: AFFECT_LIVE };
    return this.link.call(placementProcedures.domainPinVcpu, args, { isSlow: true });
  }

  override pinEmulator(uuid: string, cpus: readonly number[]): Promise<void> {
    const args = { domain: domainOf(uuid), cpuMap: cpuMapOf(cpus), flags: AFFECT_LIVE };
    return this.link.call(placementProcedures.domainPinEmulator, args, { isSlow: true });
  }

  override resizeDisk(uuid: string, target: string, bytes: number): Promise<void> {
    const args = { domain: domainOf(uuid), path: target, size: bytes, flags: RESIZE_IN_BYTES };
    return this.link.call(procedures.domainBlockResize, args, { isSlow: true });
  }

  override attachDevice(uuid: string, { xml, ...scope }: DeviceChange): Promise<void> {
    const args = { domain: domainOf(uuid), xml, flags: impactOf(scope) };
    return this.link.call(procedures.domainAttachDeviceFlags, args, { isSlow: true });
  }

  override setAutostart(uuid: string, isOn: boolean): Promise<void> {
    return this.link.call(procedures.domainSetAutostart, { domain: domainOf(uuid), autostart: isOn });
  }

  override detachDevice(uuid: string, { xml, ...scope }: DeviceChange): Promise<void> {
    const args = { domain: domainOf(uuid), xml, flags: impactOf(scope) };
    return this.link.call(procedures.domainDetachDeviceFlags, args, { isSlow: true });
  }

  override updateDevice(uuid: string, { xml, ...scope }: DeviceChange): Promise<void> {
    const args = { domain: domainOf(uuid), xml, flags: impactOf(scope) };
    return this.link.call(procedures.domainUpdateDeviceFlags, args, { isSlow: true });
  }

  override async readBytes(uuid: string, target: string): Promise<number> {
    return (await this.link.call(procedures.domainBlockStats, { domain: domainOf(uuid), path: target })).readBytes;
  }

  /** libvirt leaves out domains that have stopped since they were listed. */
  override async statistics(): Promise<DomainStatistics[]> {
    const listArgs = { needResults: true, flags: LIST_ACTIVE };
    const { domains } = await this.link.call(procedures.connectListAllDomains, listArgs);
    const found: DomainStatistics[] = [];
    for (let from = 0; from < domains.length; from += RUNNING_DOMAINS_PER_CALL) {
      const args = {
        domains: domains.slice(from, from + RUNNING_DOMAINS_PER_CALL),
        stats: STATS_CPU_TOTAL | STATS_BALLOON | STATS_INTERFACE | STATS_BLOCK,
        flags: STATS_NOWAIT,
      };
      const { records } = await this.slowLink.call(procedures.connectGetAllDomainStats, args, { isSlow: true });
      found.push(...records.map(({ domain: { uuid, name }, stats }) => ({ id: { uuid, name }, fields: stats })));
    }
    return found;
  }

  override setMetadata(uuid: string, change: MetadataChange): Promise<void> {
    const { namespace, prefix, xml, ...scope } = change;
    return this.link.call(procedures.domainSetMetadata, {
      domain: domainOf(uuid),
      type: METADATA_ELEMENT,
      metadata: xml,
      key: prefix,
      uri: namespace,
      flags: impactOf(scope),
    });
  }

  override async createPaused(xml: string, options?: CallOptions): Promise<void> {
    await this.slowLink.call(procedures.domainCreateXml, { xml, flags: START_PAUSED }, { ...options, isSlow: true });
  }

  /** Uses a connection of its own, so that the picture delays nothing else. */
  override async screenshot(uuid: string, file: string, maxBytes: number): Promise<void> {
    const connection = await this.slowLink.open();
    try {
      const args = { domain: domainOf(uuid), screen: 0, flags: 0 };
      const signal = AbortSignal.timeout(SCREENSHOT_TIMEOUT_MS);
      const direction = { readable: true, writable: false };
      const stream = await connection.openStream(procedures.domainScreenshot, args, direction, { signal });
      await pipeline(stream, limited(maxBytes), createWriteStream(file, { mode: 0o600, flags: 'wx' }), { signal });
    } catch (error) {
      throw this.slowLink.translate(error);
    } finally {
      await closeConnection(connection);
    }
  }

  override async start(uuid: string, options?: CallOptions): Promise<void> {
    await this.slowLink.call(procedures.domainCreateWithFlags, { domain: domainOf(uuid), flags: 0 }, options);
  }

  override shutdown(uuid: string): Promise<void> {
    return this.power(procedures.domainShutdownFlags, uuid);
  }

  override reboot(uuid: string): Promise<void> {
    return this.power(procedures.domainReboot, uuid);
  }

  override reset(uuid: string): Promise<void> {
    return this.power(procedures.domainReset, uuid);
  }

  override suspend(uuid: string): Promise<void> {
    return this.link.call(procedures.domainSuspend, { domain: domainOf(uuid) });
  }

  override resume(uuid: string): Promise<void> {
    return this.link.call(procedures.domainResume, { domain: domainOf(uuid) });
  }

  override wakeUp(uuid: string): Promise<void> {
    return this.power(procedures.domainPmWakeup, uuid);
  }

  override destroy(uuid: string, options?: CallOptions): Promise<void> {
    return this.power(procedures.domainDestroyFlags, uuid, options);
  }

  override async interfaceAddresses(
    uuid: string,
    source: 'agent' | 'lease',
    options?: CallOptions,
  ): Promise<InterfaceAddress[]> {
    const args = { domain: domainOf(uuid), source: ADDRESS_SOURCES[source], flags: 0 };
    const { interfaces } = await this.slowLink.call(procedures.domainInterfaceAddresses, args, {
      ...options,
      isSlow: true,
    });
    return interfaces.flatMap(({ name, hardwareAddress, addresses }) =>
      addresses.map(({ address }) => ({
        interfaceName: name,
        ...(hardwareAddress !== null && { mac: hardwareAddress }),
        address,
      })),
    );
  }

  private power(
    procedure: Procedure<{ readonly domain: WireDomain; readonly flags: number }, void>,
    uuid: string,
    options?: CallOptions,
  ): Promise<void> {
    return this.link.call(procedure, { domain: domainOf(uuid), flags: 0 }, { ...options, isSlow: true });
  }

  private async xmlOf(domain: WireDomain, flags: number): Promise<string> {
    return (await this.link.call(procedures.domainGetXmlDesc, { domain, flags })).xml;
  }

  private async documentsOf(id: DomainId, isActive: boolean): Promise<DomainDocuments> {
    const domain = domainOf(id.uuid);
    const [xml, persistentXml] = await Promise.all([
      this.xmlOf(domain, 0),
      isActive ? this.xmlOf(domain, XML_INACTIVE) : undefined,
    ]);
    return { id, xml, ...(persistentXml !== undefined && persistentXml !== xml && { persistentXml }) };
  }

  private async complete(domain: WireDomain, stats: Stats): Promise<DomainReading | undefined> {
    const state = domainStateOf(Number(stats.get('state.state') ?? 0), Number(stats.get('state.reason') ?? 0));
    const [documents, diskBytes] = await Promise.all([
      ifPresent(this.documentsOf({ uuid: domain.uuid, name: domain.name }, state.isActive)),
      this.diskSizes(domain, stats, state),
    ]);
    return documents && { ...documents, state, diskBytes };
  }

  /** The statistics of a busy domain lack the sizes of its disks. */
  private async diskSizes(domain: WireDomain, stats: Stats, { isActive }: DomainState): Promise<Map<string, number>> {
    const sizes = new Map<string, number>();
    for (let i = 0; i < Number(stats.get('block.count') ?? 0); i++) {
      const target = stats.get(`block.${i}.name`);
      const capacity = stats.get(`block.${i}.capacity`);
      if (typeof target !== 'string') continue;
      if (typeof capacity === 'number') sizes.set(target, capacity);
      else if (isActive && stats.has(`block.${i}.path`)) {
        const size = await this.diskSize(domain, target);
        if (size !== undefined) sizes.set(target, size);
      }
    }
    return sizes;
  }

  private async diskSize(domain: WireDomain, path: string): Promise<number | undefined> {
    try {
      const options = { timeoutMs: BLOCK_INFO_TIMEOUT_MS };
      return (await this.slowLink.call(procedures.domainGetBlockInfo, { domain, path, flags: 0 }, options)).capacity;
    } catch (error) {
      if (DomainError.is(error, 'BACKEND_UNREACHABLE')) throw error;
      return undefined;
    }
  }
}

const impactOf = ({ inLiveDomain, inPersistentDomain }: Omit<DeviceChange, 'xml'>): number =>
  (inLiveDomain ? AFFECT_LIVE : 0) | (inPersistentDomain ? AFFECT_CONFIG : 0);

function limited(maxBytes: number): Transform {
  let bytes = 0;
  return new Transform({
    transform: (chunk: Buffer, _encoding, next) => {
      bytes += chunk.length;
      if (bytes <= maxBytes) next(null, chunk);
      else next(new DomainError('BACKEND_FAILED', `The picture of the screen has more than ${maxBytes} bytes.`));
    },
  });
}

/** A domain may be removed at any moment. */
async function ifPresent<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (DomainError.is(error, 'INSTANCE_NOT_FOUND')) return undefined;
    throw error;
  }
}
