import type { CapExceeded, RateExceeded } from '@headgate/limits-core';
import { HttpException, HttpStatus } from '@nestjs/common';

/** A refusal as an HTTP exception, with Nest's own response format. Like the refusal itself, it has no stack. */
abstract class LimitException<Refusal extends Error> extends HttpException {
  protected constructor(
    readonly refusal: Refusal,
    status: HttpStatus,
    error: string,
  ) {
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super({ statusCode: status, message: refusal.message, error }, status, { cause: refusal });
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/** A rate refused the request: 429. `refusal` has the rate and the wait. */
export class RateExceededException extends LimitException<RateExceeded> {
  constructor(refusal: RateExceeded) {
    super(refusal, HttpStatus.TOO_MANY_REQUESTS, 'Too Many Requests');
  }
}

/** A cap refused the request: 400. `refusal` has the cap and its limit. */
export class CapExceededException extends LimitException<CapExceeded> {
  constructor(refusal: CapExceeded) {
    super(refusal, HttpStatus.BAD_REQUEST, 'Bad Request');
  }
}
