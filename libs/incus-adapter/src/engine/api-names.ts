import { createHash } from 'node:crypto';
import { isInstanceName, MAX_NAME_LENGTH, type InstanceRef } from '@headgate/domain-contracts';
import type { InstanceObject } from '../api/incus-objects.js';

const ID_LENGTH = 8;

/**
 * A name of the server in the API. Projects may have any letters and `_`, and instances capital letters: those are
 * converted to allowed characters and get an ID, so that they stay unique.
 */
function apiName(name: string, id: string, fallback: string): string {
  if (isInstanceName(name)) return name;
  const suffix = `-${id.slice(0, ID_LENGTH)}`;
  const letters = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, MAX_NAME_LENGTH - suffix.length);
  return `${letters || fallback}${suffix}`;
}

/** The namespace of a project. */
export const namespaceOf = (project: string): string =>
  apiName(project, createHash('sha256').update(project).digest('hex'), 'project');

/** The name of a snapshot: other clients may have used any letters, and some other characters. */
export const snapshotNameOf = (name: string): string =>
  apiName(name, createHash('sha256').update(name).digest('hex'), 'snapshot');

/** The identity of an instance: that of a copy, or of a later one with the same name, is another. */
export const uidOf = ({ config, project, name, created_at }: InstanceObject): string =>
  config['volatile.uuid'] ?? createHash('sha256').update([project, name, created_at].join('\0')).digest('hex');

export const refOf = (context: string, instance: InstanceObject): InstanceRef => ({
  kind: instance.type === 'virtual-machine' ? 'vm' : 'ct',
  context,
  namespace: namespaceOf(instance.project),
  name: apiName(instance.name, uidOf(instance), 'instance'),
});
