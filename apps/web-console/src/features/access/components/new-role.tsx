import { t } from '@lingui/core/macro';
import { useState } from 'react';
import { TextField } from '../../../shared/creation/components/text-field.js';
import { useContexts } from '../../../shared/fleet/use-contexts.js';
import { PlannedChangePanel, type ConfirmedRequest } from '../../../shared/plans/planned-change-panel.js';
import { useFolderPaths } from '../../../shared/queries/use-folder-paths.js';
import { Field } from '../../../shared/ui/field.js';
import { SelectInput } from '../../../shared/ui/inputs.js';
import { ReasonedButton } from '../../../shared/ui/reasoned-button.js';
import { assignRole, previewAssignment } from '../api/role-requests.js';
import { EMPTY_ROLE, problemOf, requestOf, type Place, type RoleForm } from '../role-form.js';
import { subjectText } from '../role-wording.js';
import { RoleChoice } from './role-choice.js';
import { SubjectFields } from './subject-fields.js';

/** The form of a new role. It keeps its values until the role is assigned. */
export function NewRole({ onAssigned }: { onAssigned: () => void }) {
  const [form, setForm] = useState<RoleForm>(EMPTY_ROLE);
  const [request, setRequest] = useState<ConfirmedRequest>();
  const { data: folders = [] } = useFolderPaths(true);
  const contexts = useContexts();
  const change = (part: Partial<RoleForm>): void => setForm((before) => ({ ...before, ...part }));
  const reason = problemOf(form);

  const propose = (): void => {
    const order = requestOf(form);
    const subject = subjectText(order.subject);
    setRequest({
      title: t`Assign a role to ${subject}?`,
      label: t`Assign`,
      done: t`${subject} has the role now`,
      preview: (signal) => previewAssignment(order, signal),
      run: () => assignRole(order),
    });
  };

  return (
    <>
      <form
        aria-label={t`New role`}
        className="hg-form hg-form--narrow"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          if (reason === undefined) propose();
        }}
      >
        <h3>{t`Assign a role`}</h3>
        <SubjectFields
          id="role"
          kind={form.subjectKind}
          name={form.subject}
          isRequired
          userHint={t`As the user logs in; upper and lower case are the same`}
          onChange={change}
        />
        <RoleChoice id="role-role" role={form.role} onChange={(role) => change({ role })} />
        <Field label={t`Where`} id="role-place">
          <SelectInput id="role-place" value={form.place} onChange={(place) => change({ place: place as Place })}>
            <option value="everywhere">{t`Everywhere`}</option>
            <option value="folder">{t`In a folder and those in it`}</option>
            <option value="context">{t`In a context`}</option>
          </SelectInput>
        </Field>
        {form.place === 'folder' && (
          <TextField
            id="role-folder"
            label={t`Folder`}
            required
            suggestions={folders}
            hint={t`The role follows the folder to another path, and ends with it.`}
            value={form.folder}
            onChange={(folder) => change({ folder })}
          />
        )}
        {form.place === 'context' && (
          <Field label={t`Context`} id="role-context" required>
            <SelectInput id="role-context" value={form.context} required onChange={(context) => change({ context })}>
              <option value="">{t`Choose a context`}</option>
              {contexts.map(({ context }) => (
                <option key={context} value={context} translate="no">
                  {context}
                </option>
              ))}
            </SelectInput>
          </Field>
        )}
        <div className="hg-toolbar">
          <ReasonedButton type="submit" reason={reason}>
            {t`Show the plan`}
          </ReasonedButton>
        </div>
      </form>
      {request && (
        <PlannedChangePanel
          change={request}
          failure={t`Couldn't assign the role`}
          onClose={() => setRequest(undefined)}
          onChanged={() => {
            setForm(EMPTY_ROLE);
            onAssigned();
          }}
        />
      )}
    </>
  );
}
