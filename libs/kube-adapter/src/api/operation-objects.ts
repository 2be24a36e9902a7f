import { createHash, randomBytes } from 'node:crypto';
import { MAX_NAME_LENGTH, type OperationKey } from '@headgate/domain-contracts';
import { ANNOTATION } from '../labels.js';
import type { KubeApi } from './kube-api.js';
import type { KubeObject } from './kube-object.js';
import type { Resource } from './resources.js';

const SUFFIX_LENGTH = 8;

/** The name of the object of an operation: the same for the same key, and a new one without a key. */
export function operationName(prefix: string, key: OperationKey | undefined): string {
  const suffix = key
    ? createHash('sha256').update(key.id).digest('hex').slice(0, SUFFIX_LENGTH)
    : randomBytes(SUFFIX_LENGTH / 2).toString('hex');
  return `${prefix.slice(0, MAX_NAME_LENGTH - SUFFIX_LENGTH - 1).replace(/[-.]+$/, '')}-${suffix}`;
}

/** The annotation by which the object of an operation is recognized: a name alone may be that of a foreign object. */
export const operationAnnotations = (key: OperationKey | undefined): { annotations?: Record<string, string> } =>
  key ? { annotations: { [ANNOTATION.task]: key.id } } : {};

/**
 * The object of an operation; one of its name that others have created is not. Listed, because the service may list
 * these objects anyway.
 * @param prefix as in `operationName`
 */
export async function findOfOperation<T extends KubeObject>(
  api: KubeApi,
  resource: Resource,
  { namespace, prefix, key }: { readonly namespace: string; readonly prefix: string; readonly key: OperationKey },
): Promise<T | undefined> {
  const fieldSelector = `metadata.name=${operationName(prefix, key)}`;
  return (await api.list<T>(resource, { namespace, fieldSelector })).find((object) => isOfOperation(object, key));
}

export const isOfOperation = ({ metadata }: Pick<KubeObject, 'metadata'>, { id }: Pick<OperationKey, 'id'>): boolean =>
  metadata.annotations?.[ANNOTATION.task] === id;
