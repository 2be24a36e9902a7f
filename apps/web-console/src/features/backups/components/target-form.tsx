import { t } from '@lingui/core/macro';
import { useState } from 'react';
import { addingTarget } from '../../../shared/backups/backup-requests.js';
import { TextField } from '../../../shared/creation/components/text-field.js';
import { nameProblem } from '../../../shared/names/name-rule.js';
import { PlannedChangePanel } from '../../../shared/plans/planned-change-panel.js';
import { Field, helpId } from '../../../shared/ui/field.js';
import { TextInput } from '../../../shared/ui/inputs.js';
import { ReasonedButton } from '../../../shared/ui/reasoned-button.js';

const MIN_PASSWORD_CHARS = 12;
const EMPTY = { name: '', path: '', password: '', repeated: '' };

/** Adds a repository in a folder of the machine of the service. */
export function TargetForm({ refusal, onAdded }: { refusal: string | undefined; onAdded: () => void }) {
  const [form, setForm] = useState(EMPTY);
  const [isPlanned, setIsPlanned] = useState(false);
  const change = (part: Partial<typeof EMPTY>): void => setForm({ ...form, ...part });
  const problem = refusal ?? problemOf(form);
  const { name, path, password, repeated } = form;
  const title = t`Add a backup target`;
  return (
    <form
      aria-label={title}
      className="hg-form hg-form--narrow"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        if (problem === undefined) setIsPlanned(true);
      }}
    >
      <h2>{title}</h2>
      <p className="hg-note">
        {t`A folder of the machine of the service, which may be the mount of a file server. An existing repository of restic is opened with its password.`}
      </p>
      <TextField
        id="target-name"
        label={t`Name`}
        required
        value={name}
        problem={name === '' ? undefined : nameProblem(name)}
        onChange={(text) => change({ name: text })}
      />
      <TextField
        id="target-path"
        label={t`Path`}
        required
        hint={t`In one of the folders that the configuration allows for backups`}
        placeholder="/mnt/backups/vms"
        value={path}
        onChange={(text) => change({ path: text })}
      />
      <PasswordField
        id="target-password"
        label={t`Password`}
        hint={t`Keep it in another place as well: without it, the backups can't be read.`}
        value={password}
        onChange={(text) => change({ password: text })}
      />
      <PasswordField
        id="target-repeated"
        label={t`Repeat the password`}
        value={repeated}
        onChange={(text) => change({ repeated: text })}
      />
      <div className="hg-toolbar">
        <ReasonedButton type="submit" reason={problem}>
          {t`Add target…`}
        </ReasonedButton>
      </div>
      {isPlanned && (
        <PlannedChangePanel
          change={{
            title: t`Add the backup target ${name}?`,
            label: t`Add target`,
            done: t`${name} was added`,
            ...addingTarget({ name, kind: 'directory', path, password }),
          }}
          failure={t`Couldn't add the backup target`}
          onClose={() => setIsPlanned(false)}
          onChanged={() => {
            setForm(EMPTY);
            onAdded();
          }}
        />
      )}
    </form>
  );
}

interface PasswordFieldProps {
  id: string;
  label: string;
  hint?: string;
  value: string;
  onChange: (text: string) => void;
}

function PasswordField({ id, label, hint, value, onChange }: PasswordFieldProps) {
  return (
    <Field label={label} id={id} required hint={hint}>
      <TextInput
        id={id}
        type="password"
        autoComplete="new-password"
        required
        value={value}
        aria-describedby={helpId(id)}
        onChange={onChange}
      />
    </Field>
  );
}

function problemOf({ name, path, password, repeated }: typeof EMPTY): string | undefined {
  if (name === '') return t`Enter a name first.`;
  if (nameProblem(name) !== undefined) return nameProblem(name);
  if (!path.startsWith('/')) return t`Enter an absolute path first.`;
  if (password.length < MIN_PASSWORD_CHARS) return t`Enter a password of at least ${MIN_PASSWORD_CHARS} characters.`;
  return password === repeated ? undefined : t`The passwords differ.`;
}
