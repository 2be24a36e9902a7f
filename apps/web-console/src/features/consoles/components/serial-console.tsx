import { useState, type ReactNode } from 'react';
import { useRemembered } from '../../../shared/storage/remembered.js';
import { useNotify } from '../../../shared/ui/notifications.js';
import { saveFile, stamp } from '../../../shared/ui/save-file.js';
import { terminalText } from '../terminal-text.js';
import { useConsoleLink } from '../use-console-link.js';
import { useLibraries } from '../use-libraries.js';
import { useTerminal } from '../use-terminal.js';
import { useTty } from '../use-tty.js';
import { ConsoleFrame, type ConsoleGuest } from './console-frame.js';
import { ConsoleTool } from './console-tool.js';

interface SerialConsoleProps {
  url: string;
  guest: ConsoleGuest;
  viewOnly: boolean;
  start: ReactNode;
  /** A shell in a container, instead of a VM's serial line. */
  shell?: boolean;
}

const FONT_SIZES = { smallest: 9, usual: 13, largest: 24 } as const;

/** A terminal on the guest's serial line, or on a shell. What it said stays readable after it ended. */
export function SerialConsole({ url, guest, viewOnly, start, shell = false }: SerialConsoleProps) {
  const [link, dispatch] = useConsoleLink(guest.running);
  const [fontSize, setFontSize] = useRemembered<number>('terminal-font', FONT_SIZES.usual);
  const [selected, setSelected] = useState(false);
  const notify = useNotify();
  const explain = (body: string) => (): void =>
    notify({ variant: 'warning', title: 'The browser does not allow this here', body });
  const copy = (text: string): void =>
    void navigator.clipboard.writeText(text).catch(explain('Select the text and press Ctrl-Shift-C.'));
  const { libraries, ...loading } = useLibraries();
  const { place, terminal } = useTerminal({ libraries, fontSize, onCopy: copy, onSelection: setSelected });
  useTty(terminal, { url, generation: guest.running ? link.generation : 0, viewOnly, shell }, dispatch);

  const paste = (): void =>
    void navigator.clipboard
      .readText()
      .then((text) => terminal?.paste(text))
      .catch(explain('Click into the terminal and press Ctrl-Shift-V.'));
  const save = (): void => {
    if (terminal) saveFile(`${guest.name}-${stamp(new Date())}.txt`, new Blob([terminalText(terminal)]));
  };
  const zoom = (by: number): void =>
    setFontSize(Math.max(FONT_SIZES.smallest, Math.min(FONT_SIZES.largest, fontSize + by)));

  return (
    <ConsoleFrame
      label={shell ? `Shell in ${guest.name}` : `Serial console of ${guest.name}`}
      guest={guest}
      link={link}
      viewOnly={viewOnly}
      start={start}
      loading={loading}
      again={link.ended ? 'New shell' : 'Reconnect'}
      onReconnect={() => dispatch({ type: 'reconnect', asked: true })}
      tools={
        <>
          <ConsoleTool icon="copy" isDisabled={!selected} onClick={() => copy(terminal?.getSelection() ?? '')}>
            Copy selection
          </ConsoleTool>
          {!viewOnly && (
            <ConsoleTool icon="paste" isDisabled={link.phase !== 'connected'} onClick={paste}>
              Paste
            </ConsoleTool>
          )}
          <ConsoleTool icon="minus" brief onClick={() => zoom(-1)}>
            Smaller text
          </ConsoleTool>
          <ConsoleTool icon="plus" brief onClick={() => zoom(1)}>
            Larger text
          </ConsoleTool>
          <ConsoleTool icon="download" onClick={save}>
            Save text
          </ConsoleTool>
        </>
      }
    >
      <div ref={place} className="hg-terminal" data-waiting={link.phase === 'waiting'} />
    </ConsoleFrame>
  );
}
