import { t } from '@lingui/core/macro';
import { Button } from '../../../shared/ui/button.js';
import { Field, helpId } from '../../../shared/ui/field.js';
import { TextArea, TextInput } from '../../../shared/ui/inputs.js';
import { SshKeyPicker } from './ssh-key-picker.js';
import { UserDataField } from './user-data-field.js';
import { cloudInitText, editAsText, NO_CLOUD_INIT, type CloudInit } from '../cloud-init.js';

interface CloudInitEditorProps {
  value: CloudInit;
  onChange: (value: CloudInit) => void;
  /** The service's error message. */
  problem?: string | undefined;
}

/** Fields for the user, the password and so on, next to the text that they result in; or a text for everything else. */
export function CloudInitEditor({ value, onChange, problem }: CloudInitEditorProps) {
  const set = (change: Partial<CloudInit>): void => onChange({ ...value, ...change });
  if (value.isText) {
    return (
      <>
        <UserDataField value={value} problem={problem} onChange={(text) => set({ text })} />
        <Button variant="link" onClick={() => set({ isText: false })}>
          {t`Use the form instead (your text is kept)`}
        </Button>
      </>
    );
  }
  // The password is not shown.
  const shown = cloudInitText({ ...value, password: value.password === '' ? '' : '••••' });
  const field = (id: keyof typeof NO_CLOUD_INIT & ('user' | 'hostname' | 'packages'), label: string, hint: string) => (
    <Field label={label} id={id} hint={hint}>
      <TextInput
        id={id}
        value={value[id]}
        autoComplete="off"
        spellCheck={false}
        aria-describedby={helpId(id)}
        onChange={(text) => set({ [id]: text })}
      />
    </Field>
  );
  return (
    <div className="hg-first-boot">
      <div className="hg-form">
        <div className="hg-grid hg-grid--halves">
          {field('user', t`User`, t`Instead of the image's default user`)}
          <Field label={t`Password`} id="password" hint={t`Of that user`}>
            <TextInput
              id="password"
              type="password"
              autoComplete="new-password"
              value={value.password}
              aria-describedby={helpId('password')}
              onChange={(password) => set({ password })}
            />
          </Field>
          {field('hostname', t`Hostname`, t`Default: the name of the VM`)}
          {field('packages', t`Packages`, t`Installed on first boot`)}
        </div>
        <Field label={t`SSH keys`} id="keys" hint={t`Public keys, one per line`} problem={problem}>
          <TextArea
            id="keys"
            className="hg-code"
            translate="no"
            rows={2}
            value={value.keys}
            spellCheck={false}
            aria-describedby={helpId('keys')}
            placeholder="ssh-ed25519 AAAA… you@laptop"
            onChange={(keys) => set({ keys })}
          />
        </Field>
        <SshKeyPicker keys={value.keys} onChange={(keys) => set({ keys })} />
      </div>
      <div className="hg-first-boot-text">
        <pre className="hg-code-block" aria-label={t`User data`} tabIndex={0}>
          {shown === '' ? t`# Nothing: the image starts unchanged.` : shown}
        </pre>
        <Button variant="link" onClick={() => onChange(editAsText(value))}>
          {t`Edit user data as text`}
        </Button>
      </div>
    </div>
  );
}
