import type { Instance } from '../model/instance.js';
import type { Abilities, AbilityName, BackendDirectory } from './backend.port.js';
import type { InstanceDirectory, InstanceQuery } from './instance-directory.port.js';

export interface InstanceSources {
  readonly directory: InstanceDirectory;
  readonly backends: BackendDirectory;
}

/** An instance, with the ability of its backend that is used on it. */
export interface FoundInstance<K extends AbilityName> extends Pick<Instance, 'ref' | 'uid'> {
  readonly instance: Instance;
  readonly ability: Abilities[K];
}

/**
 * Finds an instance and an ability of its backend.
 * @throws DomainError like `InstanceDirectory.resolve`; CONTEXT_NOT_FOUND, BACKEND_UNREACHABLE, NOT_SUPPORTED
 */
export function findInstance<K extends AbilityName>(
  { directory, backends }: InstanceSources,
  query: InstanceQuery,
  ability: K,
): FoundInstance<K> {
  return withAbility(backends, directory.resolve(query), ability);
}

/** Adds the ability of its backend to an instance that was found before. @throws DomainError like `findInstance` */
export function withAbility<K extends AbilityName>(
  backends: BackendDirectory,
  instance: Instance,
  ability: K,
): FoundInstance<K> {
  const { ref, uid } = instance;
  return { ref, uid, instance, ability: backends.get(ref.context).requireFor(ref.kind, ability) };
}
