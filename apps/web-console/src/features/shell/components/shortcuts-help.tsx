import { Fragment, useState } from 'react';
import { Dialog } from '../../../shared/ui/dialog.js';
import { Icon } from '../../../shared/ui/icon.js';
import { commandKey, useShortcut } from '../../../shared/ui/use-shortcut.js';

const SHORTCUTS: Readonly<Record<string, readonly (readonly [keys: string, description: string])[]>> = {
  Everywhere: [
    ['?', 'Show this help'],
    [`${commandKey()}+K`, 'Search everything, or run a command'],
    ['/', 'Search the list'],
    ['g, then m c n s w i a h', 'Go to machines, containers, nodes, storage, networks, images, activity or health'],
    ['n', 'Create a VM or container'],
    ['\\', 'Fold or unfold the sidebar'],
    ['Esc', 'Close a dialog or panel; clear the search'],
  ],
  'In a list': [
    ['↑ ↓ j k PgUp PgDn Home End', 'Move between rows; the details follow'],
    ['Enter, double click', 'Open the row'],
    ['p', 'Show or hide the details of the row'],
    ['.', 'Show the actions of the row'],
    ['s', 'Shut down, start or resume'],
    ['r', 'Restart'],
    ['c', 'Open the console'],
    ['→ ←', 'Move to the links and buttons of the row, and back'],
    ['Space', 'Select the row'],
    ['Shift+↑ Shift+↓, Shift+click', 'Select a range'],
    ['Ctrl+A', 'Select everything that the search and filters show'],
    ['Esc', 'Clear the selection, then hide the details'],
  ],
  'In a console': [
    ['Ctrl+Alt+Shift', 'Move to the toolbar'],
    ['Ctrl+Shift+C, Ctrl+Shift+V', 'Copy and paste in a terminal'],
  ],
};

/** The list of keyboard shortcuts. */
export function ShortcutsHelp() {
  const [isOpen, setIsOpen] = useState(false);
  useShortcut('?', () => setIsOpen(true));
  return (
    <>
      <button
        type="button"
        className="hg-icon-button hg-shortcuts-button"
        aria-label="Keyboard shortcuts"
        title="Keyboard shortcuts (?)"
        onClick={() => setIsOpen(true)}
      >
        <Icon name="help" />
      </button>
      {isOpen && (
        <Dialog title="Keyboard shortcuts" onClose={() => setIsOpen(false)} onSubmit={() => setIsOpen(false)}>
          {Object.entries(SHORTCUTS).map(([where, shortcuts]) => (
            <section key={where} className="hg-keys" aria-label={where} tabIndex={0}>
              <h3>{where}</h3>
              <dl className="hg-facts">
                {shortcuts.map(([keys, description]) => (
                  <Fragment key={keys}>
                    <dt>
                      <kbd>{keys}</kbd>
                    </dt>
                    <dd>{description}</dd>
                  </Fragment>
                ))}
              </dl>
            </section>
          ))}
        </Dialog>
      )}
    </>
  );
}
