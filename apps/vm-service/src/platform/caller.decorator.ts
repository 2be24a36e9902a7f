import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Caller } from '@headgate/domain-contracts';
import type { FastifyRequest } from 'fastify';

const CALLER = Symbol('caller');

type WithCaller = FastifyRequest & { [CALLER]?: Caller };

export const rememberCaller = (request: FastifyRequest, caller: Caller): void => {
  (request as WithCaller)[CALLER] = caller;
};

/** The caller, if the identity guard has determined one: probes have none. */
export const knownCallerOf = (request: FastifyRequest): Caller | undefined => (request as WithCaller)[CALLER];

/** The caller, as the identity guard determined it. */
export function callerOf(request: FastifyRequest): Caller {
  const caller = knownCallerOf(request);
  if (!caller) throw new Error('the identity guard did not run');
  return caller;
}

export const CurrentCaller = createParamDecorator((_data: unknown, context: ExecutionContext): Caller =>
  callerOf(context.switchToHttp().getRequest<FastifyRequest>()),
);
