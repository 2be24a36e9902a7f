import { Button } from '../../../shared/ui/button.js';
import { Field, helpId } from '../../../shared/ui/field.js';
import { TextArea, TextInput } from '../../../shared/ui/inputs.js';
import { cloudInitWarning, editAsText, type CloudInit } from '../cloud-init.js';

interface CloudInitEditorProps {
  value: CloudInit;
  onChange: (value: CloudInit) => void;
  /** The service's error message. */
  problem?: string | undefined;
}

/** Fields for the hostname, password, and keys; or a text for everything else. */
export function CloudInitEditor({ value, onChange, problem }: CloudInitEditorProps) {
  const set = (change: Partial<CloudInit>): void => onChange({ ...value, ...change });
  if (value.isText) {
    return (
      <Field
        label="User data"
        id="cloud-init"
        problem={problem}
        hint={cloudInitWarning(value) ?? 'cloud-init reads this text on first boot.'}
      >
        <TextArea
          id="cloud-init"
          className="hg-code"
          rows={9}
          value={value.text}
          spellCheck={false}
          isInvalid={problem !== undefined}
          aria-describedby={helpId('cloud-init')}
          onChange={(text) => set({ text })}
        />
        <Button variant="link" onClick={() => set({ isText: false })}>
          Use the form instead (your text is kept)
        </Button>
      </Field>
    );
  }
  return (
    <>
      <div className="hg-grid hg-grid--halves">
        <Field label="Hostname" id="hostname">
          <TextInput id="hostname" value={value.hostname} onChange={(hostname) => set({ hostname })} />
        </Field>
        <Field label="Password" id="password" hint="For the image's default user">
          <TextInput
            id="password"
            type="password"
            autoComplete="new-password"
            value={value.password}
            aria-describedby={helpId('password')}
            onChange={(password) => set({ password })}
          />
        </Field>
      </div>
      <Field label="SSH keys" id="keys" hint="Public keys, one per line" problem={problem}>
        <TextArea
          id="keys"
          className="hg-code"
          rows={2}
          value={value.keys}
          spellCheck={false}
          aria-describedby={helpId('keys')}
          placeholder="ssh-ed25519 AAAA… you@laptop"
          onChange={(keys) => set({ keys })}
        />
      </Field>
      <Button variant="link" onClick={() => onChange(editAsText(value))}>
        Edit user data as text
      </Button>
    </>
  );
}
