import { useCallback, useState } from 'react';
import { Button } from './button.js';
import { Icon } from './icon.js';
import { useNotify } from './notifications.js';

/**
 * Copies text to the clipboard. When the browser does not allow that, a notice shows the text.
 * @returns a function that returns whether the text was copied
 */
export function useCopyText(): (text: string) => Promise<boolean> {
  const notify = useNotify();
  return useCallback(
    async (text) => {
      try {
        await navigator.clipboard.writeText(text);
        return true;
      } catch {
        notify({ variant: 'warning', title: "The browser doesn't allow copying here", body: text });
        return false;
      }
    },
    [notify],
  );
}

function useCopied(text: string): [copied: boolean, copy: () => void] {
  const copyText = useCopyText();
  const [copied, setCopied] = useState<string>();
  return [copied === text, () => void copyText(text).then((done) => done && setCopied(text))];
}

/** A button that copies a longer text, such as a report. */
export function CopyButton({ text, label, isSmall = false }: { text: string; label: string; isSmall?: boolean }) {
  const [copied, copy] = useCopied(text);
  return (
    <Button variant="secondary" isSmall={isSmall} icon={<Icon name={copied ? 'check' : 'copy'} />} onClick={copy}>
      {copied ? 'Copied' : label}
    </Button>
  );
}

/** A short text, such as an address, with a button that copies it. */
export function Copyable({ text, what }: { text: string; what: string }) {
  const [copied, copy] = useCopied(text);
  const label = copied ? `Copied ${what}` : `Copy ${what}`;
  return (
    <span className="hg-copyable">
      <code>{text}</code>
      <button type="button" className="hg-icon-button" aria-label={label} title={label} onClick={copy}>
        <Icon name={copied ? 'check' : 'copy'} />
      </button>
    </span>
  );
}
