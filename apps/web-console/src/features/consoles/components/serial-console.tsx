import { t } from '@lingui/core/macro';
import { useState, type ReactNode } from 'react';
import { messageOf } from '../../../shared/api/api-error.js';
import { useRemembered } from '../../../shared/storage/remembered.js';
import { readClipboard, useCopyText } from '../../../shared/ui/copy.js';
import { useNotify } from '../../../shared/ui/notifications.js';
import { saveFile, fileTimestamp } from '../../../shared/ui/save-file.js';
import { terminalText } from '../terminal-text.js';
import type { ConsoleGuest } from '../console-link.js';
import { useConsoleLink } from '../use-console-link.js';
import { useLibraries } from '../use-libraries.js';
import { useTerminal } from '../use-terminal.js';
import { useTty } from '../use-tty.js';
import { ConsoleFrame } from './console-frame.js';
import { ConsoleTool } from './console-tool.js';
import { TerminalSearch } from './terminal-search.js';

interface SerialConsoleProps {
  url: string;
  guest: ConsoleGuest;
  viewOnly: boolean;
  start: ReactNode;
  /** A shell in a container, instead of the serial console of a VM. */
  shell?: boolean;
}

const FONT_SIZES_PX = { min: 9, default: 13, max: 24 } as const;

/** A terminal for a serial console or a shell. Its output stays readable after the connection ends. */
export function SerialConsole({ url, guest, viewOnly, start, shell = false }: SerialConsoleProps) {
  const [link, dispatch] = useConsoleLink(guest.running);
  const [fontSize, setFontSize] = useRemembered<number>('terminal-font', FONT_SIZES_PX.default);
  const [selected, setSelected] = useState(false);
  const notify = useNotify();
  const copyText = useCopyText();
  const copy = (text: string): void => void copyText(text);
  const { libraries, ...loading } = useLibraries();
  const { container, terminal } = useTerminal({ libraries, fontSize, onCopy: copy, onSelection: setSelected });
  useTty(terminal, { url, attempt: guest.running ? link.attempt : 0, viewOnly, shell }, dispatch);

  const paste = async (): Promise<void> => {
    try {
      terminal?.paste(await readClipboard());
      terminal?.focus();
    } catch (error) {
      notify({
        variant: 'warning',
        title: t`The browser doesn't allow pasting here`,
        body: t`${messageOf(error)} Click the terminal and press Ctrl+Shift+V instead.`,
      });
    }
  };
  const save = (): void => {
    if (terminal) saveFile(`${guest.name}-${fileTimestamp(new Date())}.txt`, new Blob([terminalText(terminal)]));
  };
  const zoom = (by: number): void =>
    setFontSize(Math.max(FONT_SIZES_PX.min, Math.min(FONT_SIZES_PX.max, fontSize + by)));

  return (
    <ConsoleFrame
      label={shell ? t`Shell in ${guest.name}` : t`Serial console of ${guest.name}`}
      guest={guest}
      link={link}
      viewOnly={viewOnly}
      start={start}
      loading={loading}
      reconnectLabel={link.ended ? t`New shell` : t`Reconnect`}
      onReconnect={() => dispatch({ type: 'reconnect', isManual: true })}
      tools={
        <>
          <TerminalSearch terminal={terminal} />
          <ConsoleTool icon="copy" isDisabled={!selected} onClick={() => copy(terminal?.getSelection() ?? '')}>
            {t`Copy selection`}
          </ConsoleTool>
          {!viewOnly && (
            <ConsoleTool icon="paste" isDisabled={link.phase !== 'connected'} onClick={() => void paste()}>
              {t`Paste`}
            </ConsoleTool>
          )}
          <ConsoleTool icon="minus" isIconOnly onClick={() => zoom(-1)}>
            {t`Smaller text`}
          </ConsoleTool>
          <ConsoleTool icon="plus" isIconOnly onClick={() => zoom(1)}>
            {t`Larger text`}
          </ConsoleTool>
          <ConsoleTool icon="download" onClick={save}>
            {t`Save output`}
          </ConsoleTool>
        </>
      }
    >
      <div ref={container} className="hg-terminal" data-waiting={link.phase === 'waiting'} />
    </ConsoleFrame>
  );
}
