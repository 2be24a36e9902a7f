import type { EventObject, LifecycleObject, OperationObject } from '../api/incus-objects.js';
import type { InstancePath } from '../api/when-idle.js';

/** The instances that an event is about; `all` when it may be about any. */
export type Touched = readonly InstancePath[] | 'all';

/** Changes of other objects that show in instances. */
const CHANGES_MANY = /^(profile-updated|project-updated|project-renamed|cluster-member-\w+|config-updated)$/;
const SUCCESS = 200;
const DEFAULT_PROJECT = 'default';

export function touchedInstances({ type, project = DEFAULT_PROJECT, metadata }: EventObject): Touched {
  if (type === 'operation') return ofOperation(metadata as Partial<OperationObject>, project);
  if (type !== 'lifecycle') return [];
  const { action = '', source = '', context } = metadata as Partial<LifecycleObject>;
  if (CHANGES_MANY.test(action)) return 'all';
  const found = instanceOf(source, project);
  if (!found) return [];
  const oldName = context?.old_name;
  return action === 'instance-renamed' && typeof oldName === 'string' ? [found, { ...found, name: oldName }] : [found];
}

/** Only of its end: each event of its progress repeats the resources. */
function ofOperation({ status_code, resources }: Partial<OperationObject>, project: string): InstancePath[] {
  if (status_code === undefined || status_code < SUCCESS) return [];
  const paths = resources?.instances ?? resources?.containers ?? [];
  return paths.flatMap((path) => instanceOf(path, project) ?? []);
}

/** @param path such as `/1.0/instances/web/snapshots/one?project=lab` */
export function instanceOf(path: string, project: string): InstancePath | undefined {
  const [plain = '', query = ''] = path.split('?');
  const [, , kind, name = ''] = plain.split('/');
  if (!/^(instances|containers|virtual-machines)$/.test(kind ?? '') || name === '') return undefined;
  return { project: new URLSearchParams(query).get('project') ?? project, name: decode(name) };
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
