import { t } from '@lingui/core/macro';
import { useCallback, useState } from 'react';
import { Button } from './button.js';
import { Icon } from './icon.js';
import { useNotify } from './notifications.js';

/**
 * Reads the clipboard.
 * @throws Error that explains why the browser does not allow it
 */
export async function readClipboard(): Promise<string> {
  const { clipboard } = navigator as { clipboard?: Clipboard };
  if (!clipboard?.readText) throw new Error(t`Browsers let a page read the clipboard only over HTTPS or on localhost.`);
  return clipboard.readText();
}

/**
 * Browsers offer the clipboard only over HTTPS or on localhost. Elsewhere, the old command copies the selected text.
 */
async function writeClipboard(text: string): Promise<void> {
  const { clipboard } = navigator as { clipboard?: Clipboard };
  if (clipboard) return clipboard.writeText(text);
  const focused = document.activeElement;
  const area = document.createElement('textarea');
  area.value = text;
  area.className = 'hg-hidden';
  // Outside an open dialog, everything is inert and can't be selected.
  (focused?.closest('dialog') ?? document.body).append(area);
  area.focus();
  area.select();
  const isCopied = document.execCommand('copy');
  area.remove();
  if (focused instanceof HTMLElement) focused.focus();
  if (!isCopied) throw new Error(t`The browser refused to copy.`);
}

/**
 * Copies text to the clipboard. When the browser does not allow that, a notice shows the text.
 * @returns a function that returns whether the text was copied
 */
export function useCopyText(): (text: string) => Promise<boolean> {
  const notify = useNotify();
  return useCallback(
    async (text) => {
      try {
        await writeClipboard(text);
        return true;
      } catch {
        notify({ variant: 'warning', title: t`The browser doesn't allow copying here`, body: text });
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
      {copied ? t`Copied` : label}
    </Button>
  );
}

/** A short text, such as an address, with a button that copies it. */
export function Copyable({ text, what }: { text: string; what: string }) {
  const [copied, copy] = useCopied(text);
  const label = copied ? t`Copied ${what}` : t`Copy ${what}`;
  return (
    <span className="hg-copyable">
      <code>{text}</code>
      <button type="button" className="hg-icon-button" aria-label={label} title={label} onClick={copy}>
        <Icon name={copied ? 'check' : 'copy'} />
      </button>
    </span>
  );
}
