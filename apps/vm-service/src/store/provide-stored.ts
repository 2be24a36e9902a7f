import type { FactoryProvider } from '@nestjs/common';
import { RegistryDatabase } from '@headgate/registry-store';
import { SHARED_STORE, type SharedStore } from './shared-store.js';

/** The names of the parts that implement a port. */
type PartsOf<Port> = {
  [Name in keyof SharedStore]: SharedStore[Name] extends Port ? Name : never;
}[keyof SharedStore];

/** Provides a part of the store that replicas share, or the same in the registry of a service that runs alone. */
export const provideStored = <Port>(
  port: abstract new (...args: never[]) => Port,
  part: PartsOf<Port>,
  useClass: new (database: RegistryDatabase) => NoInfer<Port>,
): FactoryProvider => ({
  provide: port,
  inject: [SHARED_STORE, RegistryDatabase],
  useFactory: (shared: SharedStore | undefined, database: RegistryDatabase) => shared?.[part] ?? new useClass(database),
});
