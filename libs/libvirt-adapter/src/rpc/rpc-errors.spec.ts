import { type DomainError, type ErrorCode } from '@headgate/domain-contracts';
import {
  ErrorNumber,
  LibvirtError,
  RpcCallError,
  RpcConnectionError,
  type ConnectionFailure,
} from '@headgate/libvirt-rpc';
import { TransportError } from '../connection/transport-error.js';
import { translateRpcError } from './rpc-errors.js';

const DOMAIN = 20;

describe('translateRpcError', () => {
  // Messages of libvirt 9.0.
  test.each<[number, string, ErrorCode, string]>([
    [ErrorNumber.noDomain, "Domain not found: no domain with matching uuid '2c74' (web)", 'INSTANCE_NOT_FOUND', '2c74'],
    [ErrorNumber.noDomain, 'a message of a later version', 'INSTANCE_NOT_FOUND', 'later version'],
    [
      ErrorNumber.noStorageVolume,
      "Storage volume not found: no storage vol with matching name 'v'",
      'VOLUME_NOT_FOUND',
      'v',
    ],
    [
      ErrorNumber.noStoragePool,
      "Storage pool not found: no storage pool with matching name 'p'",
      'VOLUME_NOT_FOUND',
      'p',
    ],
    [ErrorNumber.storageVolumeExists, "storage volume 'v1' exists already", 'ALREADY_EXISTS', 'v1'],
    [ErrorNumber.operationFailed, "domain 'web' already exists with uuid 2c74", 'ALREADY_EXISTS', 'web'],
    [
      ErrorNumber.operationInvalid,
      'Requested operation is not valid: domain is already running',
      'WRONG_STATE',
      'running',
    ],
    [ErrorNumber.operationInvalid, 'Requested operation is not valid: something new', 'WRONG_STATE', 'something new'],
    [ErrorNumber.operationTimeout, 'Timed out during operation: cannot acquire state change lock', 'BUSY', 'busy'],
    [ErrorNumber.agentUnresponsive, 'Guest agent is not responding: x', 'GUEST_AGENT_UNREACHABLE', 'agent'],
    [ErrorNumber.configUnsupported, 'unsupported configuration: no such bus', 'REJECTED_BY_BACKEND', 'no such bus'],
    [ErrorNumber.xmlDetail, '(domain_definition):1: Premature end of data', 'REJECTED_BY_BACKEND', 'Premature end'],
    [
      ErrorNumber.noSupport,
      'this function is not supported by the connection driver',
      'NOT_SUPPORTED',
      'version of libvirt',
    ],
    [ErrorNumber.internalError, 'cannot write data: No space left on device', 'INSUFFICIENT_STORAGE', 'full'],
    [
      ErrorNumber.operationFailed,
      'operation failed: migration out job: Unable to write to socket: Broken pipe',
      'BACKEND_FAILED',
      'migration out job: Unable to write to socket',
    ],
    [ErrorNumber.internalError, 'something new', 'BACKEND_FAILED', 'something new'],
    [9999, 'a code of a later version', 'BACKEND_FAILED', 'later version'],
  ])("translates libvirt's error %d %j to %s", (number, message, code, mention) => {
    const error = translateRpcError(new LibvirtError(number, DOMAIN, message)) as DomainError;
    expect(error.code).toBe(code);
    expect(error.message).toContain(mention);
  });

  test('reports a daemon that has lost another daemon as unreachable', () => {
    const FROM_RPC = 7;
    const error = translateRpcError(new LibvirtError(38, FROM_RPC, 'Cannot write data: Broken pipe')) as DomainError;
    expect(error.code).toBe('BACKEND_UNREACHABLE');
  });

  test.each<[ConnectionFailure, string, ErrorCode, string]>([
    [
      'unreachable',
      "Failed to connect socket to '/run/libvirt/libvirt-sock': No such file or directory",
      'BACKEND_UNREACHABLE',
      'libvirtd',
    ],
    [
      'forbidden',
      "Failed to connect socket to '/run/libvirt/libvirt-sock': Permission denied",
      'BACKEND_FORBIDDEN',
      'group libvirt',
    ],
    ['forbidden', 'authentication unavailable: no polkit agent available', 'BACKEND_FORBIDDEN', 'group libvirt'],
    ['unreachable', 'libvirt closed the connection.', 'BACKEND_UNREACHABLE', 'libvirtd'],
    ['unreachable', 'libvirt does not respond: keepalive timeout.', 'BACKEND_UNREACHABLE', 'libvirtd'],
    [
      'unreachable',
      'Cannot recv data: ssh: connect to host h port 22: Connection refused',
      'BACKEND_UNREACHABLE',
      'port 22: Connection refused',
    ],
    ['unreachable', 'TLS: h:16514: connect ECONNREFUSED', 'BACKEND_UNREACHABLE', 'over TLS: h:16514: connect'],
    ['unreachable', 'Cannot recv data: Host key verification failed.', 'BACKEND_UNREACHABLE', 'host key'],
    ['unreachable', 'Cannot recv data: ada@h: Permission denied (publickey).', 'BACKEND_FORBIDDEN', 'ssh key'],
    ['timeout', 'libvirt did not respond within 15000 ms.', 'BACKEND_TIMEOUT', 'hangs'],
    ['protocol', 'libvirt sent a call.', 'BACKEND_FAILED', 'protocol'],
  ])('translates a connection that is %s (%s) to %s', (failure, message, code, mention) => {
    const error = translateRpcError(new RpcConnectionError(failure, message)) as DomainError;
    expect(error.code).toBe(code);
    expect(error.message).toContain(mention);
  });

  test('distinguishes what only virsh speaks', () => {
    const error = translateRpcError(new RpcConnectionError('unsupported', 'libvirt requires SASL.'));
    expect(error).toBeInstanceOf(TransportError);
    expect(error).toMatchObject({ isPermanent: true });
  });

  test.each([
    ['timeout', 'BACKEND_TIMEOUT'],
    ['aborted', 'CONFLICT'],
  ] as const)('translates a call that ended by %s to %s', (reason, code) => {
    expect(translateRpcError(new RpcCallError(reason, 'x'))).toMatchObject({ code });
  });

  test('leaves other errors as they are', () => {
    const error = new TypeError('a defect');
    expect(translateRpcError(error)).toBe(error);
  });
});
