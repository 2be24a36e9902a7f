import { EXIT_CODES } from '../exit-codes.js';
import { ClientError } from './client-error.js';
import { addressOf } from './server-address.js';

const CERTIFICATE_PROBLEMS: Readonly<Record<string, string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: 'is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'is signed by an unknown authority',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'is signed by an unknown authority',
  UNABLE_TO_GET_ISSUER_CERT: 'is signed by an unknown authority',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'is signed by an unknown authority',
  CERT_HAS_EXPIRED: 'has expired',
  CERT_NOT_YET_VALID: 'is not valid yet',
  ERR_TLS_CERT_ALTNAME_INVALID: 'is for another name',
};

const PROBLEMS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'no service listens there',
  ENOTFOUND: 'there is no host of this name',
  EAI_AGAIN: 'the name of the host could not be looked up',
  EHOSTUNREACH: 'there is no way to the host',
  ENETUNREACH: 'there is no way to the network of the host',
  ETIMEDOUT: 'the host does not answer',
  ECONNRESET: 'the connection was closed before the answer was complete',
  EPIPE: 'the connection was closed before the request was complete',
  EPROTO: 'the server does not speak TLS',
};

interface SystemError {
  readonly code?: string;
  readonly message?: string;
  /** With several addresses, those of each. */
  readonly errors?: readonly SystemError[];
}

/** The error to show for a failure of the network. */
export function networkFailure(error: unknown, url: URL): ClientError {
  if (error instanceof ClientError) return error;
  const failure = error as SystemError;
  const { code = '' } = failure.errors?.[0] ?? failure;
  const address = addressOf(url);
  const certificate = CERTIFICATE_PROBLEMS[code];
  if (certificate !== undefined)
    return unreachable(
      'UNTRUSTED_CERTIFICATE',
      `The certificate of ${address} ${certificate} (${code}). Name the file of your own authority with --cacert.`,
    );
  if (code.startsWith('HPE_'))
    return unreachable('NO_HTTP', `${address} does not answer with HTTP (${code}). Check the address and its scheme.`);
  const problem = PROBLEMS[code] ?? failure.message ?? String(error);
  return unreachable('SERVICE_UNREACHABLE', `${address} can not be reached: ${problem}. ${remedyFor(code)}`);
}

const remedyFor = (code: string): string => {
  if (code === 'ECONNRESET' || code === 'EPIPE')
    return 'Check whether the request was carried out before you repeat it.';
  if (code === 'EPROTO') return 'Check the scheme of the address.';
  return 'Start the service with "npm start", or choose another one with "headgate context use", --server or HEADGATE_SERVER.';
};

const unreachable = (code: string, message: string): ClientError =>
  new ClientError(code, message, EXIT_CODES.unreachable);
