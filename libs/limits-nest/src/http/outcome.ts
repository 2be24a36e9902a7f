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

/** What became of a request. `unseen`: it ended without anybody learning how. */
export type Outcome =
  { readonly kind: 'succeeded' } | { readonly kind: 'failed'; readonly error: unknown } | { readonly kind: 'unseen' };

const UNSEEN: Outcome = { kind: 'unseen' };

/** An answer that was written without an error being thrown is judged by its status. */
const outcomeOfStatus = (status: number): Outcome =>
  status < 400 ? { kind: 'succeeded' } : { kind: 'failed', error: new HttpException('', status) };

/** What the answer says once the response has closed; a connection that was lost on the way says nothing. */
export const outcomeOfClosed = (response: ServerResponse): Outcome =>
  response.writableFinished ? outcomeOfStatus(response.statusCode) : UNSEEN;

/**
 * Tells how a handler ended before its answer leaves: by what it threw, or by the status it leaves behind. One that writes
 * its answer itself (`@Res()`) is judged when the response has closed; one that is abandoned (a timeout, an Observable
 * whose client has gone) is `unseen`.
 */
export function judged<Value>(
  response: ServerResponse,
  tell: (outcome: Outcome) => void | Promise<void>,
): MonoTypeOperatorFunction<Value> {
  return (handler: Observable<Value>) =>
    defer(() => {
      let answer: unknown;
      let told = false;
      const end = async (outcome: Outcome): Promise<void> => {
        told = true;
        await tell(outcome);
      };
      const succeed = async (): Promise<void> => {
        // Nothing returned and nothing sent: the handler may still be writing the answer.
        if (answer === undefined && !response.headersSent) {
          told = true;
          whenClosed(response, () => void tell(outcomeOfClosed(response)));
        } else await end(outcomeOfStatus(response.statusCode));
      };
      const fail = async (error: unknown): Promise<never> => {
        await end({ kind: 'failed', error });
        throw error;
      };
      const watched = handler.pipe(
        tap((value) => (answer = value)),
        catchError((error: unknown) => defer(() => fail(error))),
      );
      return concat(watched, defer(succeed).pipe(ignoreElements())).pipe(
        finalize(() => {
          if (!told) void tell(UNSEEN);
        }),
      );
    });
}

/** Calls back when the response has closed, or at once when it has already. */
export function whenClosed(response: ServerResponse, call: () => void): void {
  if (response.closed) call();
  else response.once('close', call);
}
