import { t } from '@lingui/core/macro';
import { instanceState } from '../../shared/instances/instance-state.js';
import { collectionOf, statusOf, type Instance } from '../../shared/instances/instance.js';
import { paths } from '../../shared/location/paths.js';
import { perLanguage } from '../../shared/texts/per-language.js';

/** The instances of a list that have failed in the same way. */
export interface FailingGroup {
  /** The words of their state, such as "Keeps crashing". */
  readonly words: string;
  readonly instances: readonly Instance[];
  /** The list with only these instances. */
  readonly path: string;
}

/**
 * The instances whose state is an error, by its words, the largest group first. Those of an unreachable context are
 * left out, because their state is not known.
 */
export function failingGroups(instances: readonly Instance[]): FailingGroup[] {
  const groups = new Map<string, Instance[]>();
  for (const instance of instances) {
    const { tone, words } = instanceState(instance);
    if (tone !== 'danger') continue;
    const key = `${collectionOf(instance)} ${words}`;
    const group = groups.get(key);
    if (group) group.push(instance);
    else groups.set(key, [instance]);
  }
  return [...groups.values()]
    .map((group) => ({ words: instanceState(group[0]!).words, instances: group, path: pathOf(group) }))
    .toSorted((a, b) => b.instances.length - a.instances.length);
}

function pathOf(group: readonly Instance[]): string {
  const statuses = [...new Set(group.map(statusOf))].sort().join(',');
  const list = collectionOf(group[0]!) === 'vms' ? paths.fleet : paths.containers;
  return `${list}?${new URLSearchParams({ q: `status:${statuses}` })}`;
}

/** The meanings of the words of state. */
export const meanings = perLanguage((): Readonly<Record<string, string>> => ({
  [t`Keeps crashing`]: t`The guest keeps restarting. The serial console and the events show why.`,
  [t`No node fits`]: t`No node has enough free CPU and memory, or another requirement is not met.`,
  [t`Image not found`]: t`The image can't be loaded: it does not exist, or the registry refuses it.`,
  [t`Disk missing`]: t`A required disk does not exist.`,
  [t`Disk failed`]: t`The content of a disk could not be loaded. Nothing starts until the VM is deleted and created again.`,
  [t`Failed`]: t`It ended with an error. The events show why.`,
}));
