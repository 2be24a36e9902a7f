import { inSentence } from '../../../shared/texts/in-sentence.js';
import { t } from '@lingui/core/macro';
import { useId } from 'react';
import { useLocation, useSearch } from 'wouter';
import { paths } from '../../../shared/location/paths.js';
import { useRemembered } from '../../../shared/storage/remembered.js';
import { InventoryTree } from './inventory-tree.js';
import { arrangements, useInventory, type ArrangementName } from './use-inventory.js';

/** All VMs by folders or by places. A click filters the list. */
export function Inventory() {
  const headingId = useId();
  const [chosen, setChosen] = useRemembered<ArrangementName>('inventory', 'folders');
  const name = chosen in arrangements() ? chosen : 'folders';
  const nodes = useInventory(name);
  const [path] = useLocation();
  const search = useSearch();
  const query = path === paths.fleet ? (new URLSearchParams(search).get('q') ?? undefined) : undefined;
  return (
    <section aria-labelledby={headingId} className="hg-inventory">
      <div className="hg-side-heading">
        <span id={headingId}>{t`Inventory`}</span>
        <div className="hg-segments" role="group" aria-label={t`Arrange by`}>
          {(Object.keys(arrangements()) as ArrangementName[]).map((one) => (
            <button key={one} type="button" aria-pressed={one === name} onClick={() => setChosen(one)}>
              {arrangements()[one].label}
            </button>
          ))}
        </div>
      </div>
      {nodes.length === 0 ? (
        <p className="hg-note">{t`No machines`}</p>
      ) : (
        <InventoryTree
          key={name}
          nodes={nodes}
          name={name}
          label={t`Machines by ${inSentence(arrangements()[name].label)}`}
          query={query}
        />
      )}
    </section>
  );
}
