import { Audit, BackendDirectory, InstanceDirectory, Reservations } from '@headgate/domain-contracts';

/** The dependencies of use cases that read an instance, for `provideDeps`. */
export const INSTANCE_SOURCES = { directory: InstanceDirectory, backends: BackendDirectory } as const;

/** Those of use cases that change an instance. */
export const INSTANCE_CHANGE = { ...INSTANCE_SOURCES, audit: Audit, reservations: Reservations } as const;
