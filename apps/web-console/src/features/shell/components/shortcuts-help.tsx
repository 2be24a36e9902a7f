import { t } from '@lingui/core/macro';
import { Fragment, useState } from 'react';
import { Dialog } from '../../../shared/ui/dialog.js';
import { Icon } from '../../../shared/ui/icon.js';
import { commandKey, useShortcut } from '../../../shared/ui/use-shortcut.js';
import { perLanguage } from '../../../shared/texts/per-language.js';

const allShortcuts = perLanguage(
  (): Readonly<Record<string, readonly (readonly [keys: string, description: string])[]>> => ({
    [t`Everywhere`]: [
      ['?', t`Show this help`],
      [`${commandKey()}+K`, t`Search everything, or run a command`],
      ['/', t`Search the list`],
      [t`g, then m c n s w i a h`, t`Go to machines, containers, nodes, storage, networks, images, activity or health`],
      ['n', t`Create a VM or container`],
      ['\\', t`Fold or unfold the sidebar`],
      [t`Esc`, t`Close a dialog or panel; clear the search`],
    ],
    [t`In a list`]: [
      [t`↑ ↓ j k PgUp PgDn Home End`, t`Move between rows; the details follow`],
      [t`Enter, double click`, t`Open the row`],
      ['p', t`Show or hide the details of the row`],
      ['.', t`Show the actions of the row`],
      ['s', t`Shut down, start or resume`],
      ['r', t`Restart`],
      ['c', t`Open the console`],
      ['→ ←', t`Move to the links and buttons of the row, and back`],
      [t`Space`, t`Select the row`],
      [t`Shift+↑ Shift+↓, Shift+click`, t`Select a range`],
      [t`Ctrl+A`, t`Select everything that the search and filters show`],
      [t`Esc`, t`Clear the selection, then hide the details`],
    ],
    [t`In a console`]: [
      [t`Ctrl+Alt+Shift`, t`Move to the toolbar`],
      [t`Ctrl+Shift+C, Ctrl+Shift+V`, t`Copy and paste in a terminal`],
    ],
  }),
);

/** The list of keyboard shortcuts. */
export function ShortcutsHelp() {
  const [isOpen, setIsOpen] = useState(false);
  useShortcut('?', () => setIsOpen(true));
  return (
    <>
      <button
        type="button"
        className="hg-icon-button hg-shortcuts-button"
        aria-label={t`Keyboard shortcuts`}
        title={t`Keyboard shortcuts (?)`}
        onClick={() => setIsOpen(true)}
      >
        <Icon name="help" />
      </button>
      {isOpen && (
        <Dialog title={t`Keyboard shortcuts`} onClose={() => setIsOpen(false)} onSubmit={() => setIsOpen(false)}>
          {Object.entries(allShortcuts()).map(([where, shortcuts]) => (
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
