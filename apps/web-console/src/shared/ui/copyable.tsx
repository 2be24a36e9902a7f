import { useState } from 'react';
import { Icon } from './icon.js';
import { useNotify } from './notifications.js';

/** A text that people carry elsewhere, with the button for it. */
export function Copyable({ text, what }: { text: string; what: string }) {
  const notify = useNotify();
  const [copied, setCopied] = useState('');
  const copy = (): void =>
    void navigator.clipboard.writeText(text).then(
      () => setCopied(text),
      () => notify({ variant: 'warning', title: 'The browser does not allow copying here', body: text }),
    );
  const label = copied === text ? `Copied ${what}` : `Copy ${what}`;
  return (
    <span className="hg-copyable">
      <code>{text}</code>
      <button type="button" className="hg-icon-button" aria-label={label} title={label} onClick={copy}>
        <Icon name={copied === text ? 'check' : 'copy'} />
      </button>
    </span>
  );
}
