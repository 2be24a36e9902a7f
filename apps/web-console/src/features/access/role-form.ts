import { t } from '@lingui/core/macro';
import type { AssignRoleDto } from '@headgate/api-contracts';
import type { Role } from './role-wording.js';

export type SubjectKind = 'user' | 'group';
export type Place = 'everywhere' | 'folder' | 'context';

/** The texts of the form of a new role. */
export interface RoleForm {
  readonly subjectKind: SubjectKind;
  readonly subject: string;
  readonly role: Role;
  readonly place: Place;
  readonly folder: string;
  readonly context: string;
}

export const EMPTY_ROLE: RoleForm = {
  subjectKind: 'user',
  subject: '',
  role: 'viewer',
  place: 'everywhere',
  folder: '',
  context: '',
};

export function requestOf({ subjectKind, subject, role, place, folder, context }: RoleForm): AssignRoleDto {
  return {
    subject: { [subjectKind]: subject.trim() },
    role,
    scope: {
      ...(place === 'folder' && { folder: folder.trim() }),
      ...(place === 'context' && { context }),
    },
  };
}

/** Why the form can't be sent; undefined if it can. */
export function problemOf({ subjectKind, subject, place, folder, context }: RoleForm): string | undefined {
  if (subject.trim() === '') return subjectKind === 'user' ? t`Enter a login first.` : t`Enter a group first.`;
  if (place === 'folder' && folder.trim() === '') return t`Enter a folder first.`;
  return place === 'context' && context === '' ? t`Choose a context first.` : undefined;
}
