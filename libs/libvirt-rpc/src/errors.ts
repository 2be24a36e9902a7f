/**
 * The reason why there is no connection:
 * - `unsupported`: the URI, or something that the daemon requires, is outside of what this client speaks
 * - `unreachable`: nothing listens there, or the connection broke
 * - `timeout`: the daemon accepted the connection and does not answer
 * - `forbidden`: the user may not connect
 * - `protocol`: the peer sent something that is not libvirt's protocol
 * - `closed`: this side closed the connection
 */
export type ConnectionFailure = 'unsupported' | 'unreachable' | 'timeout' | 'forbidden' | 'protocol' | 'closed';

/** There is no connection, or no longer. Every pending call is rejected with it. */
export class RpcConnectionError extends Error {
  override readonly name = 'RpcConnectionError';

  constructor(
    readonly failure: ConnectionFailure,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** libvirt did not answer a call in time, or its signal was aborted. libvirt may still carry it out. */
export class RpcCallError extends Error {
  override readonly name = 'RpcCallError';

  constructor(
    readonly reason: 'timeout' | 'aborted',
    message: string,
  ) {
    super(message);
  }
}

/** The bytes of a message do not have the shape of its procedure. */
export class XdrError extends Error {
  override readonly name = 'XdrError';
}

/** An error that libvirt returned: https://libvirt.org/html/libvirt-virterror.html */
export class LibvirtError extends Error {
  override readonly name = 'LibvirtError';

  constructor(
    /** One of `ErrorNumber`, or a newer one. */
    readonly code: number,
    /** The part of libvirt that raised it (`virErrorDomain`). */
    readonly domain: number,
    message: string,
  ) {
    super(message);
  }
}

/** The `virErrorNumber` values that callers distinguish. */
export const ErrorNumber = {
  internalError: 1,
  noSupport: 3,
  invalidArgument: 8,
  operationFailed: 9,
  xmlError: 27,
  domainExists: 28,
  operationDenied: 29,
  xmlDetail: 35,
  rpc: 39,
  noDomain: 42,
  noNetwork: 43,
  authFailed: 45,
  noStoragePool: 49,
  noStorageVolume: 50,
  noNodeDevice: 53,
  operationInvalid: 55,
  configUnsupported: 67,
  operationTimeout: 68,
  argumentUnsupported: 74,
  authCanceled: 79,
  operationUnsupported: 84,
  agentUnresponsive: 86,
  resourceBusy: 87,
  accessDenied: 88,
  storageVolumeExists: 90,
  xmlInvalidSchema: 92,
  authUnavailable: 94,
  agentUnsynced: 97,
  noDomainCheckpoint: 103,
  noDomainBackup: 104,
  checkpointInconsistent: 109,
} as const;
