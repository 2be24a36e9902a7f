import { tagsOfLabels, type PatchedView, type PatchVmDto } from '@headgate/api-contracts';
import { DomainError, parseMemory } from '@headgate/domain-contracts';
import type { InstancePatch, PatchOutcome } from '@headgate/instances';

/**
 * The patch that a body declares. Null removes tags, the protection and autostart; there is no VM without CPUs and
 * memory.
 * @param restart whether a running VM is restarted for a new size if that is necessary
 * @throws DomainError INVALID_INPUT
 */
export function toInstancePatch(body: PatchVmDto, restart: boolean): InstancePatch {
  const { cpu, mem, tags, labels, protected: isProtected, autostart } = body;
  if (tags !== undefined && labels !== undefined)
    throw new DomainError('INVALID_INPUT', 'Set tags or labels, not both: a label svc.dev/tag.NAME is the tag NAME.');
  const hasNoTags = tags === null || labels === null;
  return {
    restart,
    ...(cpu === undefined ? {} : { cpu }),
    ...(mem === undefined ? {} : { memoryBytes: parseMemory(mem) }),
    ...(hasNoTags ? { tags: [] } : tags === undefined ? {} : { tags }),
    ...(labels ? { tagSwitches: tagsOfLabels(labels) } : {}),
    ...(isProtected === undefined ? {} : { isProtected: isProtected ?? false }),
    ...(autostart === undefined ? {} : { autostart: autostart ?? false }),
  };
}

export const presentPatched = ({ changed, effect, pending }: PatchOutcome): PatchedView => ({
  status: 'ok',
  changed: [...changed],
  effect,
  pending: [...pending],
});
