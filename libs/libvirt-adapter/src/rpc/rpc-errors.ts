import { DomainError, type ErrorCode } from '@headgate/domain-contracts';
import { ErrorNumber, LibvirtError, RpcCallError, RpcConnectionError } from '@headgate/libvirt-rpc';
import { TransportError } from '../connection/transport-error.js';
import { isStoppedDaemon, translateFailure } from '../programs/translate-failure.js';

/** Translates the errors of the RPC client. libvirt's messages are the same as those that virsh prints. */
export function translateRpcError(error: unknown): unknown {
  if (error instanceof LibvirtError) return translateLibvirtError(error);
  if (error instanceof RpcCallError) return translateEnd(error.reason, error);
  if (!(error instanceof RpcConnectionError)) return error;
  switch (error.failure) {
    case 'unsupported':
      return new TransportError(error.message, true, { cause: error });
    case 'timeout':
      return translateEnd('timeout', error);
    case 'forbidden':
      return translateText(`authentication failed: ${error.message}`, error);
    case 'protocol':
      return new DomainError('BACKEND_FAILED', `libvirt did not keep to its protocol: ${error.message}`, {
        cause: error,
      });
    default:
      return translateText(`failed to connect to the hypervisor\nerror: ${error.message}`, error);
  }
}

const translateText = (text: string, cause: Error): DomainError => {
  const { code, message } = translateFailure('libvirt', { code: 1, stdout: '', stderr: `error: ${text}` });
  return new DomainError(code, message, { cause });
};

function translateEnd(ended: 'timeout' | 'aborted', cause: Error): DomainError {
  const { code, message } = translateFailure('libvirt', { code: null, stdout: '', stderr: '', ended });
  return new DomainError(code, message, { cause });
}

/** libvirt's codes decide where its message is not known. */
const CODES: Readonly<Record<number, ErrorCode>> = {
  [ErrorNumber.noDomain]: 'INSTANCE_NOT_FOUND',
  [ErrorNumber.noNodeDevice]: 'DEVICE_NOT_FOUND',
  [ErrorNumber.noStoragePool]: 'VOLUME_NOT_FOUND',
  [ErrorNumber.noStorageVolume]: 'VOLUME_NOT_FOUND',
  [ErrorNumber.noDomainCheckpoint]: 'CHECKPOINT_NOT_FOUND',
  [ErrorNumber.noDomainBackup]: 'TASK_NOT_FOUND',
  [ErrorNumber.checkpointInconsistent]: 'CHECKPOINT_INCONSISTENT',
  [ErrorNumber.domainExists]: 'ALREADY_EXISTS',
  [ErrorNumber.storageVolumeExists]: 'ALREADY_EXISTS',
  [ErrorNumber.operationInvalid]: 'WRONG_STATE',
  [ErrorNumber.operationTimeout]: 'BUSY',
  [ErrorNumber.resourceBusy]: 'BUSY',
  [ErrorNumber.agentUnresponsive]: 'GUEST_AGENT_UNREACHABLE',
  [ErrorNumber.agentUnsynced]: 'GUEST_AGENT_UNREACHABLE',
  [ErrorNumber.xmlError]: 'REJECTED_BY_BACKEND',
  [ErrorNumber.xmlDetail]: 'REJECTED_BY_BACKEND',
  [ErrorNumber.xmlInvalidSchema]: 'REJECTED_BY_BACKEND',
  [ErrorNumber.configUnsupported]: 'REJECTED_BY_BACKEND',
  [ErrorNumber.invalidArgument]: 'REJECTED_BY_BACKEND',
  [ErrorNumber.noSupport]: 'NOT_SUPPORTED',
  [ErrorNumber.argumentUnsupported]: 'NOT_SUPPORTED',
  [ErrorNumber.operationUnsupported]: 'NOT_SUPPORTED',
  [ErrorNumber.authFailed]: 'BACKEND_FORBIDDEN',
  [ErrorNumber.operationDenied]: 'BACKEND_FORBIDDEN',
  [ErrorNumber.accessDenied]: 'BACKEND_FORBIDDEN',
};

/** `virErrorDomain`: a daemon failed to reach another daemon. */
const FROM_RPC = 7;

function translateLibvirtError(error: LibvirtError): DomainError {
  const translated = translateText(error.message, error);
  const code = CODES[error.code];
  // libvirt has answered: the connection that broke is one of QEMU's.
  if (isStoppedDaemon(translated) && error.domain !== FROM_RPC)
    return new DomainError(code ?? 'BACKEND_FAILED', `libvirt: ${error.message}`, { cause: error });
  if (translated.code !== 'BACKEND_FAILED' || code === undefined || !translated.message.startsWith('libvirt: ')) {
    return translated;
  }
  return new DomainError(code, translated.message, { cause: error });
}
