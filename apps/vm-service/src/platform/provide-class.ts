import type { FactoryProvider, InjectionToken } from '@nestjs/common';

/**
 * Provides a class of a library, which knows no framework: `inject` names its constructor parameters in order.
 * @param provide the token, when it is not the class itself but the port that it implements
 */
export const provideClass = <A extends unknown[], T>(
  useClass: new (...args: A) => T,
  inject: { readonly [I in keyof A]: InjectionToken },
  provide: InjectionToken = useClass,
): FactoryProvider<T> => ({
  provide,
  inject: [...inject],
  useFactory: (...args: unknown[]) => new useClass(...(args as A)),
});
