import { deepCopy } from '../deep-copy.js';
import { apiVersionOf, type KubeObject } from '../kube-object.js';
import { storageApiVersion, type ServedResource } from '../resource-registry.js';

/** The object in the requested version; the stored object itself when that is its version. */
export function toServed(object: KubeObject, { definition, version }: ServedResource): KubeObject {
  if (version.fromStorage) return version.fromStorage(deepCopy(object));
  const apiVersion = apiVersionOf(definition.group, version.name);
  return object.apiVersion === apiVersion ? object : { ...object, apiVersion, kind: definition.kind };
}

/** Converts a draft from the client's version to the storage version. */
export function toStored(object: KubeObject, { definition, version }: ServedResource): KubeObject {
  const stored = version.toStorage ? version.toStorage(object) : object;
  if (!definition.aliasOf) stored.apiVersion = storageApiVersion(definition);
  return stored;
}
