import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import { type Observable, catchError, from, mergeMap, throwError } from 'rxjs';
import { roomsOf } from './rate.guard.js';
import { statusOf } from './status-of.js';

const FORBIDDEN = 403;

/** Settles what a request has reserved: forgotten when it succeeds, kept when it fails, released when it does neither. */
@Injectable()
export class RateOutcomeInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const rooms = roomsOf(context.switchToHttp().getRequest<object>());
    if (rooms.length === 0) return next.handle();
    return next.handle().pipe(
      mergeMap(async (answer: unknown) => {
        for (const { reservation } of rooms) await reservation.forget();
        return answer;
      }),
      catchError((error: unknown) =>
        from(
          (async () => {
            for (const { reservation, rules } of rooms) {
              const failed = rules.some(({ isFailure = isForbidden }) => isFailure(error));
              await (failed ? reservation.keep() : reservation.release());
            }
          })(),
        ).pipe(mergeMap(() => throwError(() => error))),
      ),
    );
  }
}

const isForbidden = (error: unknown): boolean => statusOf(error) === FORBIDDEN;
