import {
  array,
  characters,
  flag,
  hyper,
  int,
  nothing,
  nullable,
  string,
  struct,
  uint,
  unsignedHyper,
  type Codec,
} from './wire/codec.js';
import { authTypes, QEMU_PROGRAM } from './wire/message.js';
import { domain, MAX_LIST_LENGTH, network, pool, textParams, typedParams, volume } from './wire/types.js';

/** A call of libvirt's remote protocol: its number, and the types of its arguments and of its result. */
export interface Procedure<A, R> {
  readonly name: string;
  readonly number: number;
  /** Default: libvirt's remote program. */
  readonly program?: number;
  readonly args: Codec<A>;
  readonly result: Codec<R>;
}

const list = <T>(of: Codec<T>): Codec<readonly T[]> => array(of, MAX_LIST_LENGTH);
/** The arguments of calls that list objects: whether the objects are wanted or just their number, and a filter. */
const listArgs = { needResults: flag, flags: uint };
const interfaceAddress = struct({ type: int, address: string, prefix: uint });
const guestInterface = struct({
  name: string,
  hardwareAddress: nullable(string),
  addresses: array(interfaceAddress, 2048),
});
/** libvirt's limit for the facts of one guest. */
const MAX_GUEST_FACTS = 2048;
const MAX_JOB_STATS = 64;
const MAX_BLOCK_COPY_PARAMS = 16;
const domainStats = struct({ domain, stats: typedParams() });
/** Values of a node by name. With `count` 0, the reply has no values, only their number. */
const nodeStats = struct({ values: array(struct({ field: string, value: unsignedHyper }), 1024), count: int });

const checkpoint = struct({ name: string, domain });

export const procedure = <A, R>(name: string, number: number, args: Codec<A>, result: Codec<R>): Procedure<A, R> => ({
  name,
  number,
  args,
  result,
});

/**
 * The calls that this client speaks, with the numbers and types of libvirt's remote_protocol.x. Both are stable:
 * libvirt only ever adds calls.
 */
export const procedures = {
  authList: procedure('AuthList', 66, nothing, authTypes),
  authPolkit: procedure('AuthPolkit', 70, nothing, struct({ isComplete: flag })),

  connectOpen: procedure('ConnectOpen', 1, struct({ name: nullable(string), flags: uint }), nothing),
  connectClose: procedure('ConnectClose', 2, nothing, nothing),
  connectSupportsFeature: procedure(
    'ConnectSupportsFeature',
    60,
    struct({ feature: int }),
    struct({ isSupported: flag }),
  ),
  connectGetType: procedure('ConnectGetType', 3, nothing, struct({ type: string })),
  connectGetVersion: procedure('ConnectGetVersion', 4, nothing, struct({ version: unsignedHyper })),
  connectGetLibVersion: procedure('ConnectGetLibVersion', 157, nothing, struct({ version: unsignedHyper })),
  connectGetHostname: procedure('ConnectGetHostname', 59, nothing, struct({ hostname: string })),
  connectGetCapabilities: procedure('ConnectGetCapabilities', 7, nothing, struct({ xml: string })),
  connectGetDomainCapabilities: procedure(
    'ConnectGetDomainCapabilities',
    342,
    struct({
      emulator: nullable(string),
      arch: nullable(string),
      machine: nullable(string),
      type: nullable(string),
      flags: uint,
    }),
    struct({ xml: string }),
  ),
  nodeGetInfo: procedure(
    'NodeGetInfo',
    6,
    nothing,
    struct({
      model: characters(32),
      memoryKib: unsignedHyper,
      cpus: int,
      mhz: int,
      nodes: int,
      sockets: int,
      cores: int,
      threads: int,
    }),
  ),

  /** CPU time in nanoseconds since the node started: `user`, `kernel`, `idle`, `iowait`. CPU -1 is the sum of all. */
  nodeGetCpuStats: procedure('NodeGetCPUStats', 227, struct({ cpu: int, count: int, flags: uint }), nodeStats),
  /** KiB: `total`, `free`, `buffers`, `cached`. Cell -1 is the whole node. */
  nodeGetMemoryStats: procedure('NodeGetMemoryStats', 228, struct({ count: int, cell: int, flags: uint }), nodeStats),

  connectListAllDomains: procedure(
    'ConnectListAllDomains',
    273,
    struct(listArgs),
    struct({ domains: list(domain), count: uint }),
  ),
  /** Statistics of the given domains, or of all if the list is empty. */
  connectGetAllDomainStats: procedure(
    'ConnectGetAllDomainStats',
    344,
    struct({ domains: list(domain), stats: uint, flags: uint }),
    struct({ records: list(domainStats) }),
  ),
  domainLookupByName: procedure('DomainLookupByName', 23, struct({ name: string }), struct({ domain })),
  domainGetXmlDesc: procedure('DomainGetXMLDesc', 14, struct({ domain, flags: uint }), struct({ xml: string })),
  domainGetState: procedure(
    'DomainGetState',
    212,
    struct({ domain, flags: uint }),
    struct({ state: int, reason: int }),
  ),
  domainIsPersistent: procedure('DomainIsPersistent', 151, struct({ domain }), struct({ isPersistent: flag })),
  domainGetBlockInfo: procedure(
    'DomainGetBlockInfo',
    194,
    struct({ domain, path: string, flags: uint }),
    struct({ allocation: unsignedHyper, capacity: unsignedHyper, physical: unsignedHyper }),
  ),
  domainInterfaceAddresses: procedure(
    'DomainInterfaceAddresses',
    353,
    struct({ domain, source: uint, flags: uint }),
    struct({ interfaces: array(guestInterface, 2048) }),
  ),
  /** Facts of the guest agent by name, such as `os.id` and `fs.0.mountpoint`. */
  domainGetGuestInfo: procedure(
    'DomainGetGuestInfo',
    418,
    struct({ domain, types: uint, flags: uint }),
    struct({ facts: typedParams(MAX_GUEST_FACTS) }),
  ),
  /** How many seconds libvirt waits for an answer of the guest agent. */
  domainAgentSetResponseTimeout: procedure(
    'DomainAgentSetResponseTimeout',
    420,
    struct({ domain, timeoutSeconds: int, flags: uint }),
    struct({ result: int }),
  ),
  domainSetUserPassword: procedure(
    'DomainSetUserPassword',
    357,
    struct({ domain, user: nullable(string), password: nullable(string), flags: uint }),
    nothing,
  ),
  /** A command in the JSON protocol of QEMU's monitor, and its reply, which may be an error of QEMU. */
  qemuDomainMonitorCommand: {
    ...procedure(
      'QemuDomainMonitorCommand',
      1,
      struct({ domain, command: string, flags: uint }),
      struct({ reply: string }),
    ),
    program: QEMU_PROGRAM,
  },
  /** A command in the agent's own JSON protocol, and its answer. */
  qemuDomainAgentCommand: {
    ...procedure(
      'QemuDomainAgentCommand',
      3,
      struct({ domain, command: string, timeoutSeconds: int, flags: uint }),
      struct({ answer: nullable(string) }),
    ),
    program: QEMU_PROGRAM,
  },
  domainDefineXmlFlags: procedure(
    'DomainDefineXMLFlags',
    350,
    struct({ xml: string, flags: uint }),
    struct({ domain }),
  ),
  domainUndefineFlags: procedure('DomainUndefineFlags', 231, struct({ domain, flags: uint }), nothing),
  domainSetMetadata: procedure(
    'DomainSetMetadata',
    264,
    struct({
      domain,
      type: int,
      metadata: nullable(string),
      key: nullable(string),
      uri: nullable(string),
      flags: uint,
    }),
    nothing,
  ),
  domainGetAutostart: procedure('DomainGetAutostart', 15, struct({ domain }), struct({ autostart: flag })),
  domainSetVcpusFlags: procedure('DomainSetVcpusFlags', 199, struct({ domain, count: uint, flags: uint }), nothing),
  domainAttachDeviceFlags: procedure(
    'DomainAttachDeviceFlags',
    160,
    struct({ domain, xml: string, flags: uint }),
    nothing,
  ),
  domainBlockResize: procedure(
    'DomainBlockResize',
    251,
    struct({ domain, path: string, size: unsignedHyper, flags: uint }),
    nothing,
  ),
  domainSetAutostart: procedure('DomainSetAutostart', 29, struct({ domain, autostart: flag }), nothing),
  domainDetachDeviceFlags: procedure(
    'DomainDetachDeviceFlags',
    161,
    struct({ domain, xml: string, flags: uint }),
    nothing,
  ),
  domainUpdateDeviceFlags: procedure(
    'DomainUpdateDeviceFlags',
    174,
    struct({ domain, xml: string, flags: uint }),
    nothing,
  ),
  domainBlockStats: procedure(
    'DomainBlockStats',
    64,
    struct({ domain, path: string }),
    struct({ reads: hyper, readBytes: hyper, writes: hyper, writtenBytes: hyper, errors: hyper }),
  ),
  domainSnapshotCreateXml: procedure(
    'DomainSnapshotCreateXML',
    185,
    struct({ domain, xml: string, flags: uint }),
    struct({ snapshot: struct({ name: string, domain }) }),
  ),
  domainBlockCommit: procedure(
    'DomainBlockCommit',
    290,
    struct({
      domain,
      disk: string,
      base: nullable(string),
      top: nullable(string),
      bandwidth: unsignedHyper,
      flags: uint,
    }),
    nothing,
  ),
  domainGetBlockJobInfo: procedure(
    'DomainGetBlockJobInfo',
    238,
    struct({ domain, path: string, flags: uint }),
    struct({ isFound: flag, type: int, bandwidth: unsignedHyper, current: unsignedHyper, end: unsignedHyper }),
  ),
  /** The copy is a complete disk of its own; `destination` is a `<disk>` element. */
  domainBlockCopy: procedure(
    'DomainBlockCopy',
    345,
    struct({ domain, path: string, destination: string, params: textParams(MAX_BLOCK_COPY_PARAMS), flags: uint }),
    nothing,
  ),
  /** Copies the content of all layers into the file of the disk, which is based on nothing afterwards. */
  domainBlockPull: procedure(
    'DomainBlockPull',
    240,
    struct({ domain, path: string, bandwidth: unsignedHyper, flags: uint }),
    nothing,
  ),
  domainBlockJobAbort: procedure('DomainBlockJobAbort', 237, struct({ domain, path: string, flags: uint }), nothing),
  /** The present job of a domain, or with the flag 1 the last one that has ended. */
  domainGetJobStats: procedure(
    'DomainGetJobStats',
    298,
    struct({ domain, flags: uint }),
    struct({ type: int, stats: typedParams(MAX_JOB_STATS) }),
  ),
  domainAbortJob: procedure('DomainAbortJob', 164, struct({ domain }), nothing),
  /** The description of the domain in a file with its memory. */
  domainSaveImageGetXmlDesc: procedure(
    'DomainSaveImageGetXMLDesc',
    235,
    struct({ file: string, flags: uint }),
    struct({ xml: string }),
  ),
  domainRestoreFlags: procedure(
    'DomainRestoreFlags',
    233,
    struct({ file: string, xml: nullable(string), flags: uint }),
    nothing,
  ),
  domainBackupBegin: procedure(
    'DomainBackupBegin',
    421,
    struct({ domain, backupXml: string, checkpointXml: nullable(string), flags: uint }),
    nothing,
  ),
  domainBackupGetXmlDesc: procedure(
    'DomainBackupGetXMLDesc',
    422,
    struct({ domain, flags: uint }),
    struct({ xml: string }),
  ),
  domainListAllCheckpoints: procedure(
    'DomainListAllCheckpoints',
    413,
    struct({ domain, needResults: flag, flags: uint }),
    struct({ checkpoints: list(checkpoint), count: int }),
  ),
  domainCheckpointGetXmlDesc: procedure(
    'DomainCheckpointGetXMLDesc',
    412,
    struct({ checkpoint, flags: uint }),
    struct({ xml: string }),
  ),
  domainCheckpointDelete: procedure('DomainCheckpointDelete', 417, struct({ checkpoint, flags: uint }), nothing),
  domainCreateXml: procedure('DomainCreateXML', 10, struct({ xml: string, flags: uint }), struct({ domain })),
  /** Opens a stream with an image. The result names its type, which the image shows as well. */
  domainScreenshot: procedure('DomainScreenshot', 211, struct({ domain, screen: uint, flags: uint }), nothing),
  domainCreateWithFlags: procedure('DomainCreateWithFlags', 196, struct({ domain, flags: uint }), struct({ domain })),
  domainShutdownFlags: procedure('DomainShutdownFlags', 258, struct({ domain, flags: uint }), nothing),
  domainReboot: procedure('DomainReboot', 27, struct({ domain, flags: uint }), nothing),
  domainReset: procedure('DomainReset', 245, struct({ domain, flags: uint }), nothing),
  domainDestroyFlags: procedure('DomainDestroyFlags', 234, struct({ domain, flags: uint }), nothing),
  domainSuspend: procedure('DomainSuspend', 34, struct({ domain }), nothing),
  domainResume: procedure('DomainResume', 28, struct({ domain }), nothing),
  domainPmWakeup: procedure('DomainPMWakeup', 267, struct({ domain, flags: uint }), nothing),
  /** Opens a stream. */
  domainOpenConsole: procedure(
    'DomainOpenConsole',
    201,
    struct({ domain, device: nullable(string), flags: uint }),
    nothing,
  ),
  domainEventRegister: procedure(
    'ConnectDomainEventCallbackRegisterAny',
    316,
    struct({ eventId: int, domain: nullable(domain) }),
    struct({ callbackId: int }),
  ),
  domainEventDeregister: procedure(
    'ConnectDomainEventCallbackDeregisterAny',
    317,
    struct({ callbackId: int }),
    nothing,
  ),

  connectListAllNetworks: procedure(
    'ConnectListAllNetworks',
    283,
    struct(listArgs),
    struct({ networks: list(network), count: uint }),
  ),
  networkLookupByName: procedure('NetworkLookupByName', 46, struct({ name: string }), struct({ network })),
  networkGetXmlDesc: procedure('NetworkGetXMLDesc', 43, struct({ network, flags: uint }), struct({ xml: string })),
  networkDefineXml: procedure('NetworkDefineXML', 41, struct({ xml: string }), struct({ network })),
  networkUndefine: procedure('NetworkUndefine', 49, struct({ network }), nothing),
  networkCreate: procedure('NetworkCreate', 39, struct({ network }), nothing),
  networkSetAutostart: procedure('NetworkSetAutostart', 48, struct({ network, autostart: flag }), nothing),

  connectListAllStoragePools: procedure(
    'ConnectListAllStoragePools',
    281,
    struct(listArgs),
    struct({ pools: list(pool), count: uint }),
  ),
  storagePoolLookupByName: procedure('StoragePoolLookupByName', 84, struct({ name: string }), struct({ pool })),
  storagePoolGetInfo: procedure(
    'StoragePoolGetInfo',
    87,
    struct({ pool }),
    struct({ state: uint, capacity: unsignedHyper, allocation: unsignedHyper, available: unsignedHyper }),
  ),
  storagePoolGetXmlDesc: procedure('StoragePoolGetXMLDesc', 88, struct({ pool, flags: uint }), struct({ xml: string })),
  storagePoolDefineXml: procedure('StoragePoolDefineXML', 77, struct({ xml: string, flags: uint }), struct({ pool })),
  storagePoolSetAutostart: procedure('StoragePoolSetAutostart', 90, struct({ pool, autostart: flag }), nothing),
  storagePoolBuild: procedure('StoragePoolBuild', 79, struct({ pool, flags: uint }), nothing),
  storagePoolCreate: procedure('StoragePoolCreate', 78, struct({ pool, flags: uint }), nothing),
  storagePoolRefresh: procedure('StoragePoolRefresh', 83, struct({ pool, flags: uint }), nothing),
  storagePoolListAllVolumes: procedure(
    'StoragePoolListAllVolumes',
    282,
    struct({ pool, ...listArgs }),
    struct({ volumes: list(volume), count: uint }),
  ),
  storageVolLookupByName: procedure('StorageVolLookupByName', 95, struct({ pool, name: string }), struct({ volume })),
  storageVolLookupByPath: procedure('StorageVolLookupByPath', 97, struct({ path: string }), struct({ volume })),
  storageVolGetXmlDesc: procedure('StorageVolGetXMLDesc', 99, struct({ volume, flags: uint }), struct({ xml: string })),
  storageVolGetPath: procedure('StorageVolGetPath', 100, struct({ volume }), struct({ path: string })),
  storageVolCreateXml: procedure(
    'StorageVolCreateXML',
    93,
    struct({ pool, xml: string, flags: uint }),
    struct({ volume }),
  ),
  storageVolCreateXmlFrom: procedure(
    'StorageVolCreateXMLFrom',
    125,
    struct({ pool, xml: string, source: volume, flags: uint }),
    struct({ volume }),
  ),
  storageVolResize: procedure(
    'StorageVolResize',
    260,
    struct({ volume, capacity: unsignedHyper, flags: uint }),
    nothing,
  ),
  storageVolDelete: procedure('StorageVolDelete', 94, struct({ volume, flags: uint }), nothing),
  /** Opens a stream. A length of 0 is everything. */
  storageVolUpload: procedure(
    'StorageVolUpload',
    208,
    struct({ volume, offset: unsignedHyper, length: unsignedHyper, flags: uint }),
    nothing,
  ),
  /** Opens a stream. A length of 0 is everything. */
  storageVolDownload: procedure(
    'StorageVolDownload',
    209,
    struct({ volume, offset: unsignedHyper, length: unsignedHyper, flags: uint }),
    nothing,
  ),
} as const;
