import { useCallback, useState, type ReactNode } from 'react';
import { useRemembered } from '../../../shared/storage/remembered.js';
import { useNotify } from '../../../shared/ui/notifications.js';
import { saveFile, stamp } from '../../../shared/ui/save-file.js';
import { sendCombination } from '../key-combinations.js';
import { typeText } from '../type-text.js';
import { useConsoleLink } from '../use-console-link.js';
import { useLibraries } from '../use-libraries.js';
import { useScreen } from '../use-screen.js';
import { ConsoleFrame, type ConsoleGuest } from './console-frame.js';
import { ConsoleTool } from './console-tool.js';
import { KeysMenu } from './keys-menu.js';
import { TypeDialog } from './type-dialog.js';

interface VncConsoleProps {
  url: string;
  guest: ConsoleGuest;
  viewOnly: boolean;
  start: ReactNode;
}

/** The guest's screen, keyboard and pointer. */
export function VncConsole({ url, guest, viewOnly, start }: VncConsoleProps) {
  const [link, dispatch] = useConsoleLink(guest.running);
  const [fit, setFit] = useRemembered('console-fit', true);
  const [typing, setTyping] = useState(false);
  const [copied, setCopied] = useState('');
  const notify = useNotify();
  const onClipboard = useCallback((text: string) => setCopied(text), []);
  const generation = guest.running ? link.generation : 0;
  const { libraries, ...loading } = useLibraries();
  const { place, display } = useScreen({ libraries, url, generation, viewOnly, fit, onClipboard }, dispatch);
  const connected = link.phase === 'connected';

  const take = (): void =>
    void navigator.clipboard.writeText(copied).then(
      () => notify({ variant: 'success', title: 'What was copied in the guest is in your clipboard' }),
      () => notify({ variant: 'warning', title: 'The browser does not allow copying here', body: copied }),
    );
  const type = async (text: string, signal: AbortSignal): Promise<void> => {
    if (display) await typeText(display, text, signal);
  };
  const savePicture = (): void =>
    display?.toBlob((picture) => picture && saveFile(`${guest.name}-${stamp(new Date())}.png`, picture));

  return (
    <ConsoleFrame
      label={`Graphical console of ${guest.name}`}
      guest={guest}
      link={link}
      viewOnly={viewOnly}
      start={start}
      loading={loading}
      again="Reconnect"
      onReconnect={() => dispatch({ type: 'reconnect', asked: true })}
      tools={
        <>
          {!viewOnly && (
            <>
              <ConsoleTool icon="keyboard" isDisabled={!connected} onClick={() => display?.sendCtrlAltDel()}>
                Ctrl-Alt-Del
              </ConsoleTool>
              <KeysMenu
                isDisabled={!connected}
                onSend={(combination) => {
                  if (display) sendCombination(display, combination);
                  display?.focus();
                }}
              />
              <ConsoleTool icon="paste" isDisabled={!connected} onClick={() => setTyping(true)}>
                Type text
              </ConsoleTool>
            </>
          )}
          {copied !== '' && (
            <ConsoleTool icon="copy" onClick={take}>
              Take what it copied
            </ConsoleTool>
          )}
          <ConsoleTool icon="fit" isPressed={fit} onClick={() => setFit(!fit)}>
            Fit
          </ConsoleTool>
          <ConsoleTool icon="camera" brief isDisabled={!connected} onClick={savePicture}>
            Save a picture
          </ConsoleTool>
        </>
      }
    >
      <div ref={place} className="hg-screen" data-fit={fit} hidden={link.phase === 'waiting'} />
      {typing && <TypeDialog onType={type} onClose={() => setTyping(false)} />}
    </ConsoleFrame>
  );
}
