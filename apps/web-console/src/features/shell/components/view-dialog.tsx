import { t } from '@lingui/core/macro';
import { useState } from 'react';
import { Button } from '../../../shared/ui/button.js';
import { Dialog } from '../../../shared/ui/dialog.js';
import { LabeledInput } from '../../../shared/ui/labeled-input.js';
import { ReasonedButton } from '../../../shared/ui/reasoned-button.js';

interface ViewDialogProps {
  title: string;
  /** The current name; empty for a new view. */
  name: string;
  /** The names of all views. */
  taken: readonly string[];
  /** Whether a name that is taken replaces that view. */
  mayReplace: boolean;
  onName: (name: string) => void;
  onClose: () => void;
}

const MAX_NAME_CHARS = 60;

/** Asks for the name of a view. */
export function ViewDialog({ title, name, taken, mayReplace, onName, onClose }: ViewDialogProps) {
  const [text, setText] = useState(name);
  const chosen = text.trim();
  const isTaken = chosen !== name && taken.includes(chosen);
  const reason =
    chosen === '' ? t`Enter a name.` : isTaken && !mayReplace ? t`Another view already has this name.` : undefined;
  const submit = (): void => {
    if (reason === undefined) onName(chosen);
  };
  return (
    <Dialog
      title={title}
      description={t`A view is the search, the order, and the columns of a list. The service keeps it for you.`}
      onClose={onClose}
      onSubmit={submit}
      footer={
        <>
          <ReasonedButton type="submit" reason={reason}>
            {isTaken && mayReplace ? t`Replace ${chosen}` : title}
          </ReasonedButton>
          <Button variant="link" onClick={onClose}>
            {t`Cancel`}
          </Button>
        </>
      }
    >
      <LabeledInput label={t`Name`} value={text} maxLength={MAX_NAME_CHARS} autoComplete="off" onChange={setText} />
    </Dialog>
  );
}
