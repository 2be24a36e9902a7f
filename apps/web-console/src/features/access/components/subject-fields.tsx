import { t } from '@lingui/core/macro';
import { TextField } from '../../../shared/creation/components/text-field.js';
import { Field } from '../../../shared/ui/field.js';
import { SelectInput } from '../../../shared/ui/inputs.js';
import type { SubjectKind } from '../role-form.js';

interface SubjectFieldsProps {
  /** The start of the IDs of the fields. */
  id: string;
  kind: SubjectKind;
  name: string;
  /** Whether a user has to be named. */
  isRequired: boolean;
  userHint: string;
  onChange: (part: { readonly subjectKind?: SubjectKind; readonly subject?: string }) => void;
}

/** Names a user or a group. */
export function SubjectFields({ id, kind, name, isRequired, userHint, onChange }: SubjectFieldsProps) {
  return (
    <>
      <Field label={t`Who`} id={`${id}-kind`}>
        <SelectInput
          id={`${id}-kind`}
          value={kind}
          onChange={(subjectKind) => onChange({ subjectKind: subjectKind as SubjectKind })}
        >
          <option value="user">{t`A user`}</option>
          <option value="group">{t`A group`}</option>
        </SelectInput>
      </Field>
      <TextField
        id={`${id}-subject`}
        label={kind === 'user' ? t`Login` : t`Group`}
        required={isRequired || kind === 'group'}
        hint={kind === 'user' ? userHint : t`As the login provider or the proxy names it`}
        value={name}
        onChange={(subject) => onChange({ subject })}
      />
    </>
  );
}
