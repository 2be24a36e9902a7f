import { t } from '@lingui/core/macro';
import { useMutation } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { Button } from '../../../shared/ui/button.js';
import { readClipboard } from '../../../shared/ui/copy.js';
import { Dialog } from '../../../shared/ui/dialog.js';
import { Field, helpId } from '../../../shared/ui/field.js';
import { TextArea } from '../../../shared/ui/inputs.js';

interface TypeDialogProps {
  onType: (text: string, signal: AbortSignal) => Promise<void>;
  onClose: () => void;
}

/** Types a text into the guest key by key, because a guest's screen has no clipboard. */
export function TypeDialog({ onType, onClose }: TypeDialogProps) {
  const [text, setText] = useState('');
  const stop = useRef(new AbortController());
  const { mutate, isPending } = useMutation({
    mutationFn: () => onType(text, stop.current.signal),
    onSuccess: onClose,
  });

  const canType = text !== '' && !isPending;

  useEffect(() => {
    const { current } = stop;
    // When the browser does not let the page read the clipboard, the user pastes the text into the field.
    readClipboard().then(setText, () => undefined);
    return () => current.abort();
  }, []);

  return (
    <Dialog
      title={t`Type text into the guest`}
      onClose={onClose}
      onSubmit={() => canType && mutate()}
      footer={
        <>
          <Button type="submit" isDisabled={!canType} isLoading={isPending}>
            {t`Type`}
          </Button>
          <Button variant="link" onClick={onClose}>
            {isPending ? t`Stop` : t`Cancel`}
          </Button>
        </>
      }
    >
      <Field label={t`Text`} id="type-text" hint={t`Typed as on a US keyboard. Line breaks are sent as Enter.`}>
        <TextArea
          id="type-text"
          className="hg-code"
          rows={6}
          value={text}
          aria-describedby={helpId('type-text')}
          onChange={setText}
        />
      </Field>
    </Dialog>
  );
}
