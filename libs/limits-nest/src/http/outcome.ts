import type { ServerResponse } from 'node:http';
import { HttpException } from '@nestjs/common';
import {
  type MonoTypeOperatorFunction,
  type Observable,
  catchError,
  concat,
  defer,
  finalize,
  ignoreElements,
  tap,
} from 'rxjs';

/**
 * The outcome of a request. `result` is the last value that the handler returned. `unknown`: it ended without an
 * outcome.
 */
export type Outcome =
  | { readonly kind: 'succeeded'; readonly result?: unknown }
  | { readonly kind: 'failed'; readonly error: unknown }
  | { readonly kind: 'unknown' };

const UNKNOWN: Outcome = { kind: 'unknown' };

/** The outcome of a response that was sent without an error being thrown. */
const outcomeOfStatus = (status: number, result?: unknown): Outcome =>
  status < 400 ? { kind: 'succeeded', result } : { kind: 'failed', error: new HttpException('', status) };

/** The outcome of a closed response; unknown if the connection was lost before its end. */
export const outcomeOfClosed = (response: ServerResponse): Outcome =>
  response.writableFinished ? outcomeOfStatus(response.statusCode) : UNKNOWN;

/**
 * Reports the outcome of a handler before its response is sent: the error it threw, or the status it set. A handler
 * that writes the response itself (`@Res()`) is judged when the response has closed. One that is abandoned (a timeout,
 * an Observable whose client has disconnected) is `unknown`.
 */
export function reportOutcome<Value>(
  response: ServerResponse,
  report: (outcome: Outcome) => void | Promise<void>,
): MonoTypeOperatorFunction<Value> {
  return (handler: Observable<Value>) =>
    defer(() => {
      let result: unknown;
      let reported = false;
      const end = async (outcome: Outcome): Promise<void> => {
        reported = true;
        await report(outcome);
      };
      const succeed = async (): Promise<void> => {
        // Nothing returned and nothing sent: the handler may still be writing the response.
        if (result === undefined && !response.headersSent) {
          reported = true;
          onceClosed(response, () => void report(outcomeOfClosed(response)));
        } else await end(outcomeOfStatus(response.statusCode, result));
      };
      const fail = async (error: unknown): Promise<never> => {
        await end({ kind: 'failed', error });
        throw error;
      };
      const observed = handler.pipe(
        tap((value) => (result = value)),
        catchError((error: unknown) => defer(() => fail(error))),
      );
      return concat(observed, defer(succeed).pipe(ignoreElements())).pipe(
        finalize(() => {
          if (!reported) void report(UNKNOWN);
        }),
      );
    });
}

/** Calls back when the response has closed, immediately if it already has. */
export function onceClosed(response: ServerResponse, callback: () => void): void {
  if (response.closed) callback();
  else response.once('close', callback);
}
