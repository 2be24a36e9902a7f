import { Button, Modal, ModalBody, ModalFooter, ModalHeader, TextArea } from '@patternfly/react-core';
import { useMutation } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { describedBy, Field } from '../../../shared/ui/field.js';

interface TypeDialogProps {
  onType: (text: string, signal: AbortSignal) => Promise<void>;
  onClose: () => void;
}

/** A guest's screen has no clipboard, so a text is typed into it key by key. */
export function TypeDialog({ onType, onClose }: TypeDialogProps) {
  const [text, setText] = useState('');
  const stop = useRef(new AbortController());
  const { mutate, isPending } = useMutation({
    mutationFn: () => onType(text, stop.current.signal),
    onSuccess: onClose,
  });

  useEffect(() => {
    const { current } = stop;
    // Where the browser does not show the clipboard to a page, the person pastes it himself.
    navigator.clipboard?.readText().then(setText, () => undefined);
    return () => current.abort();
  }, []);

  return (
    <Modal
      isOpen
      variant="small"
      onClose={onClose}
      aria-labelledby="type-title"
      elementToFocus="#type-text"
      // In full screen only what is inside of it is seen.
      appendTo={() => (document.fullscreenElement as HTMLElement | null) ?? document.body}
    >
      <ModalHeader title="Type text into the guest" labelId="type-title" />
      <ModalBody>
        <Field label="Text" id="type-text" hint="It is typed as on an English keyboard, line ends as Enter.">
          <TextArea
            id="type-text"
            className="hg-code"
            rows={6}
            value={text}
            aria-describedby={describedBy('type-text')}
            onChange={(_event, value) => setText(value)}
          />
        </Field>
      </ModalBody>
      <ModalFooter>
        <Button
          isDisabled={text === '' || isPending}
          {...(isPending ? { isLoading: true } : {})}
          onClick={() => mutate()}
        >
          Type
        </Button>
        <Button variant="link" onClick={onClose}>
          {isPending ? 'Stop' : 'Cancel'}
        </Button>
      </ModalFooter>
    </Modal>
  );
}
