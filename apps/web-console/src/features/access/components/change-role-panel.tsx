import { t } from '@lingui/core/macro';
import type { RoleAssignmentView } from '@headgate/api-contracts';
import { useState } from 'react';
import { PlanPanel } from '../../../shared/plans/plan-panel.js';
import { useNotify } from '../../../shared/ui/notifications.js';
import { changeRole, previewChange } from '../api/role-requests.js';
import { subjectText, type Role } from '../role-wording.js';
import { RoleChoice } from './role-choice.js';

interface ChangeRolePanelProps {
  /** As the list has it now: after a change by another user, another plan is needed. */
  role: RoleAssignmentView;
  onClose: () => void;
  /** The role was changed, or is not the one of the list. */
  onChanged: () => void;
}

/** Gives a user or a group another role in the same place, after its plan was shown. */
export function ChangeRolePanel({ role: { id, subject, role, version }, onClose, onChanged }: ChangeRolePanelProps) {
  const [next, setNext] = useState<Role>(role);
  const notify = useNotify();
  const who = subjectText(subject);
  // A refusal may be about a version that is not the present one.
  const reloading = async <T,>(request: Promise<T>): Promise<T> => {
    try {
      return await request;
    } catch (error) {
      onChanged();
      throw error;
    }
  };
  return (
    <PlanPanel
      title={t`Change the role of ${who}`}
      label={t`Change`}
      failure={t`Couldn't change the role`}
      options={<RoleChoice id="changed-role" role={next} onChange={setNext} />}
      choice={next}
      subject={{ name: who, state: `${role} ${version}` }}
      preview={(signal) => reloading(previewChange(id, { role: next, version }, signal))}
      run={() => reloading(changeRole(id, { role: next, version }))}
      onClose={onClose}
      onDone={() => {
        onClose();
        notify({ variant: 'success', title: t`The role of ${who} was changed` });
        onChanged();
      }}
    />
  );
}
