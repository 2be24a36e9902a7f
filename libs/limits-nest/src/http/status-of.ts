import { HttpException } from '@nestjs/common';

/** The HTTP status that an error carries (Nest's, Matrix's, Fastify's, http-errors'); undefined: none. */
export function statusOf(error: unknown): number | undefined {
  if (error instanceof HttpException) return error.getStatus();
  if (typeof error !== 'object' || error === null) return undefined;
  const { status, statusCode } = error as { status?: unknown; statusCode?: unknown };
  return [status, statusCode].find((code): code is number => Number.isInteger(code));
}
