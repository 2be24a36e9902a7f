import { t } from '@lingui/core/macro';
import type { RoleAssignmentView } from '@headgate/api-contracts';
import { perLanguage } from '../../shared/texts/per-language.js';

export type Role = RoleAssignmentView['role'];

export const roleNames = perLanguage((): Readonly<Record<Role, string>> => ({
  viewer: t`Viewer`,
  operator: t`Operator`,
  admin: t`Administrator`,
}));

/** What the roles permit. */
export const roleHints = perLanguage((): Readonly<Record<Role, string>> => ({
  viewer: t`Sees the instances, and changes nothing`,
  operator: t`Also starts and stops instances, opens their consoles, and creates VMs`,
  admin: t`Also changes and deletes. Everywhere, also manages the service.`,
}));

/** Where a role holds. */
export function scopeText({ folder, context }: RoleAssignmentView['scope']): string {
  if (folder !== undefined) return t`In the folder ${folder}`;
  return context === undefined ? t`Everywhere` : t`In the context ${context}`;
}

/** Who has a role, with the kind: a group may have the name of a user. */
export const subjectText = ({ user, group = '' }: RoleAssignmentView['subject']): string =>
  user === undefined ? t`Group ${group}` : t`User ${user}`;
