import type { Role, RoleAssignment, RoleScope, RoleSubject } from '@headgate/domain-contracts';

interface Held {
  readonly id: string;
  readonly source: 'configuration' | 'assigned';
  readonly subject: RoleSubject;
  readonly role: Role;
  /** As the administrator gave it. */
  readonly scope: RoleScope;
  /** Of one that was assigned while the service ran. */
  readonly assignment?: RoleAssignment;
}

/** A role of a user or a group, with the present name of its place; undefined if the place is gone. */
export type HeldRole = Held &
  (
    | { readonly kind: 'everything' }
    | { readonly kind: 'folder'; readonly path: () => string | undefined }
    | { readonly kind: 'context'; readonly name: () => string | undefined }
  );

/** Whether the folder or context of a role does not exist any more. Another one of its name is not meant. */
export const isVoid = (role: HeldRole): boolean => presentScope(role) === undefined;

/** Where a role holds now; undefined if its place is gone. */
export function presentScope(role: HeldRole): RoleScope | undefined {
  if (role.kind === 'everything') return {};
  if (role.kind === 'folder') {
    const folder = role.path();
    return folder === undefined ? undefined : { folder };
  }
  const context = role.name();
  return context === undefined ? undefined : { context };
}
