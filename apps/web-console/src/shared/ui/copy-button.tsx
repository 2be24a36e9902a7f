import { Button } from '@patternfly/react-core';
import { useState } from 'react';
import { useNotify } from './notifications.js';
import { Icon } from './icon.js';

/** Puts text into the clipboard and says so. */
export function CopyButton({ text, label, size = 'sm' }: { text: string; label: string; size?: 'sm' | 'default' }) {
  const notify = useNotify();
  const [copied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      setCopied(true);
    } catch {
      notify({
        variant: 'warning',
        title: 'The browser does not allow copying here',
        body: 'Select the text and copy it yourself.',
      });
    }
  };
  return (
    <Button
      variant="secondary"
      size={size}
      icon={<Icon name={copied ? 'check' : 'copy'} />}
      onClick={() => void copy()}
    >
      {copied ? 'Copied' : label}
    </Button>
  );
}
