import { EXIT_CODES, type ExitCode } from '../exit-codes.js';

/** An error that is shown to the user as its one sentence, without a stack. */
export class ClientError extends Error {
  override readonly name = 'ClientError';

  /**
   * @param code stable: the code of the service, or one of the client such as `SERVICE_UNREACHABLE`
   * @param details those of the service
   */
  constructor(
    readonly code: string,
    message: string,
    readonly exitCode: ExitCode,
    readonly details?: unknown,
  ) {
    super(message);
  }

  static usage(message: string): ClientError {
    return new ClientError('USAGE', message, EXIT_CODES.usage);
  }
}

/** Codes that say more than their status. */
const BY_CODE: Readonly<Record<string, ExitCode>> = {
  // The service lacks the route, which is no answer about the object that was asked for.
  PATH_NOT_FOUND: EXIT_CODES.failed,
  MOVE_REFUSED: EXIT_CODES.refused,
  NOT_SUPPORTED: EXIT_CODES.refused,
  REJECTED_BY_BACKEND: EXIT_CODES.failed,
};

const BY_STATUS: Readonly<Record<number, ExitCode>> = {
  400: EXIT_CODES.usage,
  401: EXIT_CODES.refused,
  403: EXIT_CODES.refused,
  404: EXIT_CODES.notFound,
  409: EXIT_CODES.conflict,
  429: EXIT_CODES.refused,
  503: EXIT_CODES.unreachable,
  504: EXIT_CODES.unreachable,
};

/** The exit code for an error of the service. */
export function exitCodeOf(status: number, code: string): ExitCode {
  const byCode = BY_CODE[code];
  if (byCode !== undefined) return byCode;
  // Some are 400, because the body names the object.
  if (code.endsWith('_NOT_FOUND')) return EXIT_CODES.notFound;
  return BY_STATUS[status] ?? EXIT_CODES.failed;
}
