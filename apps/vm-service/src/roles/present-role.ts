import { isVoid, presentScope, type HeldRole } from '@headgate/access';
import type { RoleAssignmentView } from '@headgate/api-contracts';

/** A role for the page: with the present path of its folder, or the last known one. */
export const presentRole = (held: HeldRole): RoleAssignmentView => {
  const { id, source, subject, role, scope, assignment } = held;
  return {
    id,
    source,
    subject: { ...subject },
    role,
    scope: { ...(presentScope(held) ?? scope) },
    void: isVoid(held),
    createdAt: assignment?.createdAt ?? null,
    createdBy: assignment?.createdBy ?? '',
    version: assignment?.version ?? 0,
  };
};
