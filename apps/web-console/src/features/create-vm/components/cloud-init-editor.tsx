import { Button, Grid, GridItem, TextArea, TextInput } from '@patternfly/react-core';
import { describedBy, Field } from '../../../shared/ui/field.js';
import { cloudInitWarning, editByHand, type CloudInit } from '../cloud-init.js';

interface CloudInitEditorProps {
  value: CloudInit;
  onChange: (value: CloudInit) => void;
  /** What the service said about it. */
  problem?: string | undefined;
}

/** Host name, password and keys as fields; everything else as text. */
export function CloudInitEditor({ value, onChange, problem }: CloudInitEditorProps) {
  const set = (change: Partial<CloudInit>): void => onChange({ ...value, ...change });
  if (value.byHand) {
    return (
      <Field
        label="User data"
        id="cloud-init"
        problem={problem}
        hint={cloudInitWarning(value) ?? 'cloud-init reads it at the first boot.'}
      >
        <TextArea
          id="cloud-init"
          className="hg-code"
          rows={9}
          value={value.text}
          spellCheck={false}
          resizeOrientation="vertical"
          validated={problem ? 'error' : 'default'}
          aria-describedby={describedBy('cloud-init')}
          onChange={(_event, text) => set({ text })}
        />
        <Button variant="link" isInline onClick={() => set({ byHand: false })}>
          Back to the fields (the text is kept, not used)
        </Button>
      </Field>
    );
  }
  return (
    <>
      <Grid hasGutter sm={6}>
        <GridItem>
          <Field label="Host name" id="hostname">
            <TextInput id="hostname" value={value.hostname} onChange={(_event, hostname) => set({ hostname })} />
          </Field>
        </GridItem>
        <GridItem>
          <Field label="Password" id="password" hint="Of the image's default user">
            <TextInput
              id="password"
              type="password"
              autoComplete="new-password"
              value={value.password}
              aria-describedby={describedBy('password')}
              onChange={(_event, password) => set({ password })}
            />
          </Field>
        </GridItem>
      </Grid>
      <Field label="SSH keys" id="keys" hint="Public keys, one per line" problem={problem}>
        <TextArea
          id="keys"
          className="hg-code"
          rows={2}
          value={value.keys}
          spellCheck={false}
          resizeOrientation="vertical"
          aria-describedby={describedBy('keys')}
          placeholder="ssh-ed25519 AAAA… you@laptop"
          onChange={(_event, keys) => set({ keys })}
        />
      </Field>
      <Button variant="link" isInline onClick={() => onChange(editByHand(value))}>
        Edit the user data as text
      </Button>
    </>
  );
}
