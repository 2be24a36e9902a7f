import { Modal, ModalBody, ModalHeader } from '@patternfly/react-core';
import { Fragment, useState } from 'react';
import { Icon } from '../../../shared/ui/icon.js';
import { useShortcut } from '../../../shared/ui/use-shortcut.js';

const KEYS: Readonly<Record<string, readonly (readonly [keys: string, does: string])[]>> = {
  Everywhere: [
    ['?', 'Shows this'],
    ['/', 'Goes to the search'],
    ['c', 'Creates an instance'],
    ['Esc', 'Closes what is open; in the search, empties it'],
  ],
  'In a list': [
    ['↑ ↓ PgUp PgDn Home End', 'Move between rows'],
    ['Enter', 'Opens the row'],
    ['→ ←', 'To the links and buttons of the row, and back'],
    ['Space', 'Marks the row'],
    ['Shift-↑ Shift-↓, Shift-click', 'Mark a range'],
    ['Ctrl-A', 'Marks everything that the search and filters show'],
    ['Esc', 'Clears the selection'],
  ],
  'In a console': [
    ['Ctrl-Alt-Shift', 'Leaves it for its tools'],
    ['Ctrl-Shift-C, Ctrl-Shift-V', 'Copy and paste in a terminal'],
  ],
};

/** Which keys do what. */
export function ShortcutsHelp() {
  const [open, setOpen] = useState(false);
  useShortcut('?', () => setOpen(true));
  return (
    <>
      <button
        type="button"
        className="hg-icon-button"
        aria-label="Keyboard shortcuts"
        title="Keyboard shortcuts ( ? )"
        onClick={() => setOpen(true)}
      >
        <Icon name="keyboard" />
      </button>
      {open && (
        <Modal isOpen variant="small" onClose={() => setOpen(false)} aria-labelledby="keys-title">
          <ModalHeader title="Keyboard shortcuts" labelId="keys-title" />
          <ModalBody>
            {Object.entries(KEYS).map(([where, keys]) => (
              <section key={where} className="hg-keys">
                <h3>{where}</h3>
                <dl className="hg-facts">
                  {keys.map(([key, does]) => (
                    <Fragment key={key}>
                      <dt>
                        <kbd>{key}</kbd>
                      </dt>
                      <dd>{does}</dd>
                    </Fragment>
                  ))}
                </dl>
              </section>
            ))}
          </ModalBody>
        </Modal>
      )}
    </>
  );
}
