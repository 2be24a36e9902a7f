import { HttpException } from '@nestjs/common';
import { DomainError, type ErrorCode } from '@headgate/domain-contracts';
import { ShuttingDownError } from '@headgate/nest-kit';

type Known = readonly [ErrorCode, string];

const BODY_TOO_LARGE: Known = ['BODY_TOO_LARGE', 'The body must not be larger than 1 MiB.'];
const NOT_JSON: Known = ['UNSUPPORTED_MEDIA_TYPE', 'The body must be JSON, sent as application/json.'];
const NO_PATH: Known = ['PATH_NOT_FOUND', 'There is nothing at this path.'];

/** Errors of Fastify, by their code. */
const BY_CODE: Readonly<Record<string, Known>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: BODY_TOO_LARGE,
  FST_ERR_CTP_INVALID_MEDIA_TYPE: NOT_JSON,
  FST_ERR_CTP_INVALID_JSON_BODY: ['INVALID_INPUT', 'The body is not valid JSON.'],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: ['INVALID_INPUT', 'The body is not as long as its Content-Length header says.'],
  HPE_HEADER_OVERFLOW: ['HEADERS_TOO_LARGE', 'The headers of the request are larger than 16 KiB.'],
  ERR_HTTP_REQUEST_TIMEOUT: ['REQUEST_TIMEOUT', 'The request did not arrive in time.'],
  FST_ERR_BAD_URL: ['INVALID_INPUT', 'The path is not validly percent-encoded.'],
};

/** Errors of the framework that have only a status; every other one is a bad request. */
const BY_STATUS: Readonly<Record<number, Known>> = { 404: NO_PATH, 405: NO_PATH, 413: BODY_TOO_LARGE, 415: NOT_JSON };
const NOT_HTTP: Known = ['INVALID_INPUT', 'The request is not valid HTTP.'];
const BAD_REQUEST: Known = ['INVALID_INPUT', 'The request could not be understood; a body must be valid JSON.'];

/** Converts any error into a DomainError. */
export function toDomainError(error: unknown): DomainError {
  if (error instanceof DomainError) return error;
  if (error instanceof ShuttingDownError) return new DomainError('SHUTTING_DOWN', error.message, { cause: error });
  const { code, statusCode } = (error ?? {}) as { code?: unknown; statusCode?: unknown };
  const status = error instanceof HttpException ? error.getStatus() : statusCode;
  const known =
    (typeof code === 'string' && (BY_CODE[code] ?? (code.startsWith('HPE_') ? NOT_HTTP : undefined))) ||
    (typeof status === 'number' && refusalOf(status));
  if (known) return new DomainError(known[0], known[1], { cause: error });
  return new DomainError(
    'INTERNAL',
    'The service failed unexpectedly; its log has the details under this request ID.',
    {
      cause: error,
    },
  );
}

const refusalOf = (status: number): Known | undefined =>
  BY_STATUS[status] ?? (status >= 400 && status < 500 ? BAD_REQUEST : undefined);
