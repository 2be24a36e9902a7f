import { useState } from 'react';
import { Button } from '../../src/shared/ui/button.js';
import { Dialog } from '../../src/shared/ui/dialog.js';
import { Field } from '../../src/shared/ui/field.js';
import { TextInput } from '../../src/shared/ui/inputs.js';
import { Section, State } from '../demo.js';

const KINDS = { 'a form': false, 'a warning': true } as const;

export function Dialogs() {
  const [open, setOpen] = useState<keyof typeof KINDS>();
  const [name, setName] = useState('');
  const close = (): void => setOpen(undefined);
  return (
    <Section title="Dialogs">
      <State name="Over the page">
        {(Object.keys(KINDS) as (keyof typeof KINDS)[]).map((kind) => (
          <Button key={kind} variant="secondary" onClick={() => setOpen(kind)}>
            Open {kind}
          </Button>
        ))}
      </State>
      {open && (
        <Dialog
          title={KINDS[open] ? 'Delete web-1?' : 'New folder'}
          description="web-1 in tailvm"
          isDanger={KINDS[open]}
          onClose={close}
          onSubmit={close}
          footer={
            <>
              <Button type="submit" variant={KINDS[open] ? 'danger' : 'primary'}>
                {KINDS[open] ? 'Delete' : 'Create'}
              </Button>
              <Button variant="link" onClick={close}>
                Cancel
              </Button>
            </>
          }
        >
          <Field label="Name" id="demo-dialog-name">
            <TextInput id="demo-dialog-name" value={name} onChange={setName} />
          </Field>
        </Dialog>
      )}
    </Section>
  );
}
