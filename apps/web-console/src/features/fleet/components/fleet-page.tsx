import { Spinner } from '@patternfly/react-core';
import { useDeferredValue, useMemo } from 'react';
import { useFleet, useRetryFleet } from '../../../shared/fleet/fleet-provider.js';
import { readOnlyReason, useWhoami } from '../../../shared/queries/use-whoami.js';
import { useRemembered } from '../../../shared/storage/remembered.js';
import { ErrorAlert } from '../../../shared/ui/error-alert.js';
import { Icon } from '../../../shared/ui/icon.js';
import { ReasonedButton } from '../../../shared/ui/reasoned-button.js';
import { useShortcut } from '../../../shared/ui/use-shortcut.js';
import { COLUMNS, DEFAULT_COLUMNS, type ColumnName } from '../fleet-columns.js';
import { withoutFilters } from '../fleet-place.js';
import { viewFleet } from '../fleet-view.js';
import { useSelection } from '../selection.js';
import { useFleetPlace } from '../use-fleet-place.js';
import { BulkBar } from './bulk-bar.js';
import { FirstRun, NoMatch } from './first-run.js';
import { FleetTable } from './fleet-table.js';
import { FleetToolbar } from './fleet-toolbar.js';
import { StatusChips } from './status-chips.js';

/** Every instance of every context in one table. */
export function FleetPage({ onCreate }: { onCreate: () => void }) {
  const { entries, phase, error } = useFleet();
  const retry = useRetryFleet();
  const { data: whoami } = useWhoami();
  const [place, changePlace] = useFleetPlace();
  const [remembered, setColumns] = useRemembered<readonly ColumnName[]>('columns', DEFAULT_COLUMNS);
  const columns = useMemo(() => COLUMNS.filter((name) => name === 'name' || remembered.includes(name)), [remembered]);
  const asked = useDeferredValue(place);
  const rows = useMemo(() => viewFleet(entries, asked), [entries, asked]);
  const selection = useSelection(entries, rows);
  const refusal = readOnlyReason(whoami);
  const create = (): void => {
    if (refusal === undefined) onCreate();
  };
  useShortcut('c', create);

  if (entries.length === 0) {
    if (phase === 'loading') return <Spinner aria-label="Loading instances" className="hg-centered" />;
    if (phase === 'lost') {
      return (
        <div className="hg-page">
          <ErrorAlert title="The instances can't be shown" error={error} onRetry={retry} />
        </div>
      );
    }
    return <FirstRun onCreate={create} refusal={refusal} />;
  }

  return (
    <div className="hg-page hg-page--full">
      <h1 className="hg-hidden">Instances</h1>
      <FleetToolbar
        entries={entries}
        place={place}
        onChange={changePlace}
        columns={columns}
        onColumns={setColumns}
        create={
          <ReasonedButton icon={<Icon name="plus" />} onClick={create} reason={refusal}>
            Create VM
          </ReasonedButton>
        }
      />
      {selection.members.length > 0 ? (
        <BulkBar selection={selection} />
      ) : (
        <StatusChips
          entries={entries}
          shown={rows.length}
          chosen={place.statuses}
          onChange={(statuses) => changePlace({ statuses })}
        />
      )}
      {rows.length === 0 ? (
        <NoMatch onClear={() => changePlace(withoutFilters(place))} />
      ) : (
        <FleetTable rows={rows} columns={columns} place={place} onSort={changePlace} selection={selection} />
      )}
    </div>
  );
}
