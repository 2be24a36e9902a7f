import { useId } from 'react';
import { useLocation, useSearch } from 'wouter';
import { paths } from '../../../shared/location/paths.js';
import { useRemembered } from '../../../shared/storage/remembered.js';
import { InventoryTree } from './inventory-tree.js';
import { ARRANGEMENTS, useInventory, type ArrangementName } from './use-inventory.js';

/** All VMs by folders or by places. A click filters the list. */
export function Inventory() {
  const headingId = useId();
  const [chosen, setChosen] = useRemembered<ArrangementName>('inventory', 'folders');
  const name = chosen in ARRANGEMENTS ? chosen : 'folders';
  const nodes = useInventory(name);
  const [path] = useLocation();
  const search = useSearch();
  const query = path === paths.fleet ? (new URLSearchParams(search).get('q') ?? undefined) : undefined;
  return (
    <section aria-labelledby={headingId} className="hg-inventory">
      <div className="hg-side-heading">
        <span id={headingId}>Inventory</span>
        <div className="hg-segments" role="group" aria-label="Arrange by">
          {(Object.keys(ARRANGEMENTS) as ArrangementName[]).map((one) => (
            <button key={one} type="button" aria-pressed={one === name} onClick={() => setChosen(one)}>
              {ARRANGEMENTS[one].label}
            </button>
          ))}
        </div>
      </div>
      {nodes.length === 0 ? (
        <p className="hg-note">No machines</p>
      ) : (
        <InventoryTree
          key={name}
          nodes={nodes}
          name={name}
          label={`Machines by ${ARRANGEMENTS[name].label.toLowerCase()}`}
          query={query}
        />
      )}
    </section>
  );
}
