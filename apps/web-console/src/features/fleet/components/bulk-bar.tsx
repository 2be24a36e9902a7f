import { Button } from '@patternfly/react-core';
import { useState } from 'react';
import { POWER_ACTIONS, POWER_WORDING, type PowerAction } from '../../../shared/power/power-actions.js';
import { Icon } from '../../../shared/ui/icon.js';
import type { Selection } from '../selection.js';
import { BulkDialog } from './bulk-dialog.js';

/** What can be done with the marked rows, in one go. */
export function BulkBar({ selection }: { selection: Selection }) {
  const [action, setAction] = useState<PowerAction>();
  const { members } = selection;

  return (
    <div className="hg-chips hg-bulk" role="toolbar" aria-label="Actions for the selected instances">
      <b role="status">{members.length.toLocaleString('en')} selected</b>
      {POWER_ACTIONS.map((name) => (
        <Button
          key={name}
          size="sm"
          variant="secondary"
          isDanger={name === 'force-stop'}
          icon={<Icon name={POWER_WORDING[name].icon} />}
          onClick={() => setAction(name)}
        >
          {POWER_WORDING[name].label}
        </Button>
      ))}
      <Button size="sm" variant="link" onClick={selection.none}>
        Clear selection
      </Button>
      {action && <BulkDialog action={action} members={members} onClose={() => setAction(undefined)} />}
    </div>
  );
}
