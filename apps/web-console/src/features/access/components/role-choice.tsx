import { t } from '@lingui/core/macro';
import { Field, helpId } from '../../../shared/ui/field.js';
import { SelectInput } from '../../../shared/ui/inputs.js';
import { roleHints, roleNames, type Role } from '../role-wording.js';

interface RoleChoiceProps {
  id: string;
  role: Role;
  onChange: (role: Role) => void;
}

/** Chooses a role, and says what it permits. */
export function RoleChoice({ id, role, onChange }: RoleChoiceProps) {
  return (
    <Field label={t`Role`} id={id} hint={roleHints()[role]}>
      <SelectInput id={id} value={role} aria-describedby={helpId(id)} onChange={(value) => onChange(value as Role)}>
        {Object.entries(roleNames()).map(([value, label]) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </SelectInput>
    </Field>
  );
}
