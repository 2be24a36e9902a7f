import { t } from '@lingui/core/macro';
import { useQueryClient } from '@tanstack/react-query';
import type { RoleAssignmentView } from '@headgate/api-contracts';
import { useState } from 'react';
import { usePlannedChange } from '../../../shared/plans/use-planned-change.js';
import { ListStates } from '../../../shared/ui/list-states.js';
import { Table } from '../../../shared/ui/table.js';
import { ACCESS_KEY, previewRemoval, removeRole, useRoles } from '../api/role-requests.js';
import { subjectText } from '../role-wording.js';
import { ChangeRolePanel } from './change-role-panel.js';
import { NewRole } from './new-role.js';
import { RoleRow } from './role-row.js';

/** The roles of users and groups, with a form to assign one. */
export function RoleList() {
  const query = useRoles();
  const [changed, setChanged] = useState<RoleAssignmentView>();
  const queries = useQueryClient();
  const reload = (): void => void queries.invalidateQueries({ queryKey: ACCESS_KEY });
  const { ask, panel } = usePlannedChange(t`Couldn't remove the role`, reload);

  const remove = (role: RoleAssignmentView): void => {
    const subject = subjectText(role.subject);
    ask({
      title: t`Remove the role of ${subject}?`,
      label: t`Remove`,
      done: t`The role of ${subject} was removed`,
      isDanger: true,
      preview: (signal) => previewRemoval(role.id, signal),
      run: () => removeRole(role.id),
    });
  };

  return (
    <section aria-label={t`Roles`} className="hg-section">
      <h2>{t`Roles`}</h2>
      <p className="hg-note">
        {t`What users and groups may do, everywhere, in a folder or in a context. A role holds at once. With any role, users without one see nothing.`}
      </p>
      <ListStates
        query={query}
        failure={t`Couldn't load the roles`}
        loading={t`Loading the roles`}
        empty={t`No roles yet: they are off.`}
      >
        {(roles) => (
          <Table
            label={t`Roles`}
            columns={[t`User or group`, t`Role`, t`Where`, t`Source`, t`Assigned`, t`Actions`]}
            className="hg-gap-below"
          >
            {roles.map((role) => (
              <RoleRow key={role.id} role={role} onChange={() => setChanged(role)} onRemove={() => remove(role)} />
            ))}
          </Table>
        )}
      </ListStates>
      <NewRole onAssigned={reload} />
      {changed && (
        <ChangeRolePanel
          key={changed.id}
          role={query.data?.find(({ id }) => id === changed.id) ?? changed}
          onClose={() => setChanged(undefined)}
          onChanged={reload}
        />
      )}
      {panel}
    </section>
  );
}
