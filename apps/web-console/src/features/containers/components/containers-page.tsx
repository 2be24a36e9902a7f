import { EmptyState, EmptyStateBody, SearchInput, Skeleton } from '@patternfly/react-core';
import { useQueryClient } from '@tanstack/react-query';
import type { ContainerView } from '@headgate/api-contracts';
import { useState } from 'react';
import { useCapabilities } from '../../../shared/queries/use-capabilities.js';
import { readOnlyReason, useWhoami } from '../../../shared/queries/use-whoami.js';
import { RemoveDialog } from '../../../shared/removal/remove-dialog.js';
import { ErrorAlert } from '../../../shared/ui/error-alert.js';
import { Icon } from '../../../shared/ui/icon.js';
import { useNotify } from '../../../shared/ui/notifications.js';
import { ReasonedButton } from '../../../shared/ui/reasoned-button.js';
import { useShortcut } from '../../../shared/ui/use-shortcut.js';
import { CONTAINERS_KEY, useContainers } from '../api/use-containers.js';
import { ContainerTable } from './container-table.js';
import { CreateContainerDialog } from './create-container-dialog.js';

/** Every container of every context that has them. */
export function ContainersPage() {
  const { data: containers, error, refetch } = useContainers();
  const { data: whoami } = useWhoami();
  const { data: capabilities } = useCapabilities();
  const [search, setSearch] = useState('');
  const [creating, setCreating] = useState(false);
  const [doomed, setDoomed] = useState<ContainerView>();
  const queries = useQueryClient();
  const notify = useNotify();
  const refusal = readOnlyReason(whoami);
  const contexts = (capabilities?.contexts ?? []).filter(({ abilities, up }) => up && abilities['containers'] === true);
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const rows = containers?.filter((ct) => words.every((word) => JSON.stringify(ct).toLowerCase().includes(word)));
  const create = (): void => {
    if (refusal === undefined) setCreating(true);
  };
  useShortcut('c', create);
  const refresh = (): void => void queries.invalidateQueries({ queryKey: CONTAINERS_KEY });

  return (
    <div className="hg-page">
      <h1 className="hg-hidden">Containers</h1>
      <div className="hg-toolbar hg-gap-below" role="toolbar" aria-label="Containers">
        <SearchInput
          className="hg-search"
          aria-label="Search containers"
          placeholder="Search all words"
          value={search}
          onChange={(_event, text) => setSearch(text)}
          onClear={() => setSearch('')}
        />
        <span className="hg-spring" />
        <ReasonedButton icon={<Icon name="plus" />} reason={refusal} onClick={create}>
          Create container
        </ReasonedButton>
      </div>
      {error && <ErrorAlert title="The containers can't be shown" error={error} onRetry={() => void refetch()} />}
      {!rows && !error && <Skeleton height="10rem" screenreaderText="Loading containers" />}
      {rows?.length === 0 && (
        <EmptyState titleText={search ? 'Nothing matches' : 'No containers yet'} headingLevel="h2" variant="sm">
          <EmptyStateBody>A container keeps its data volume while it is stopped.</EmptyStateBody>
        </EmptyState>
      )}
      {rows && rows.length > 0 && <ContainerTable rows={rows} refusal={refusal} onDelete={setDoomed} />}
      {creating && (
        <CreateContainerDialog
          contexts={contexts.map(({ context }) => context)}
          onClose={() => setCreating(false)}
          onCreated={(name) => {
            setCreating(false);
            notify({ variant: 'success', title: `${name} was created` });
            refresh();
          }}
        />
      )}
      {doomed && (
        <RemoveDialog
          collection="cts"
          address={doomed}
          caution={doomed.phase === 'Stopped' ? undefined : `It is ${doomed.phase}.`}
          onClose={() => setDoomed(undefined)}
          onRemoved={() => {
            notify({ variant: 'success', title: `${doomed.name} was deleted` });
            setDoomed(undefined);
            refresh();
          }}
        />
      )}
    </div>
  );
}
