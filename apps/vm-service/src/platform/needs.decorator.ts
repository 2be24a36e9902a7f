import 'reflect-metadata';
import type { Need } from '@headgate/access';

const NEED = 'headgate:need';

/**
 * States what a route, or the socket of a gateway, needs of its caller. The service does not start with one that states
 * nothing.
 */
export const Needs =
  (need: Need): MethodDecorator =>
  (_target, _key, descriptor) =>
    Reflect.defineMetadata(NEED, need, descriptor.value as object);

export const needOf = (handler: object): Need | undefined => Reflect.getMetadata(NEED, handler) as Need | undefined;
