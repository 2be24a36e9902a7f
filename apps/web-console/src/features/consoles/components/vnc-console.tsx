import { t } from '@lingui/core/macro';
import { useCallback, useState, type ReactNode } from 'react';
import { useRemembered } from '../../../shared/storage/remembered.js';
import { useCopyText } from '../../../shared/ui/copy.js';
import { useNotify } from '../../../shared/ui/notifications.js';
import { saveFile, fileTimestamp } from '../../../shared/ui/save-file.js';
import { sendCombination } from '../key-combinations.js';
import { typeText } from '../type-text.js';
import type { ConsoleGuest } from '../console-link.js';
import { useConsoleLink } from '../use-console-link.js';
import { useLibraries } from '../use-libraries.js';
import { useScreen } from '../use-screen.js';
import { ConsoleFrame } from './console-frame.js';
import { ConsoleTool } from './console-tool.js';
import { KeysMenu } from './keys-menu.js';
import { TypeDialog } from './type-dialog.js';

interface VncConsoleProps {
  url: string;
  guest: ConsoleGuest;
  viewOnly: boolean;
  start: ReactNode;
}

/** The guest's screen, keyboard, and pointer. */
export function VncConsole({ url, guest, viewOnly, start }: VncConsoleProps) {
  const [link, dispatch] = useConsoleLink(guest.running);
  const [fit, setFit] = useRemembered('console-fit', true);
  const [typing, setTyping] = useState(false);
  const [copied, setCopied] = useState('');
  const notify = useNotify();
  const copyText = useCopyText();
  const onClipboard = useCallback((text: string) => setCopied(text), []);
  const attempt = guest.running ? link.attempt : 0;
  const { libraries, ...loading } = useLibraries();
  const { container, display } = useScreen({ libraries, url, attempt, viewOnly, fit, onClipboard }, dispatch);
  const connected = link.phase === 'connected';

  const copyFromGuest = async (): Promise<void> => {
    if (await copyText(copied)) notify({ variant: 'success', title: t`Copied the guest's clipboard` });
  };
  const type = async (text: string, signal: AbortSignal): Promise<void> => {
    if (display) await typeText(display, text, signal);
  };
  const saveScreenshot = (): void =>
    display?.toBlob((image) => image && saveFile(`${guest.name}-${fileTimestamp(new Date())}.png`, image));

  return (
    <ConsoleFrame
      label={t`Graphical console of ${guest.name}`}
      guest={guest}
      link={link}
      viewOnly={viewOnly}
      start={start}
      loading={loading}
      reconnectLabel={t`Reconnect`}
      onReconnect={() => dispatch({ type: 'reconnect', isManual: true })}
      tools={
        <>
          {!viewOnly && (
            <>
              <ConsoleTool icon="keyboard" isDisabled={!connected} onClick={() => display?.sendCtrlAltDel()}>
                Ctrl+Alt+Del
              </ConsoleTool>
              <KeysMenu
                isDisabled={!connected}
                onSend={(combination) => {
                  if (display) sendCombination(display, combination);
                  display?.focus();
                }}
              />
              <ConsoleTool icon="paste" isDisabled={!connected} onClick={() => setTyping(true)}>
                {t`Type text`}
              </ConsoleTool>
            </>
          )}
          {copied !== '' && (
            <ConsoleTool icon="copy" onClick={() => void copyFromGuest()}>
              {t`Copy from guest`}
            </ConsoleTool>
          )}
          <ConsoleTool icon="fit" isPressed={fit} onClick={() => setFit(!fit)}>
            {t`Scale to fit`}
          </ConsoleTool>
          <ConsoleTool icon="camera" isIconOnly isDisabled={!connected} onClick={saveScreenshot}>
            {t`Save screenshot`}
          </ConsoleTool>
        </>
      }
    >
      <div ref={container} className="hg-screen" data-fit={fit} hidden={link.phase === 'waiting'} />
      {typing && <TypeDialog onType={type} onClose={() => setTyping(false)} />}
    </ConsoleFrame>
  );
}
