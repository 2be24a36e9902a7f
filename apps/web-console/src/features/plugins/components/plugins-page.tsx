import { useQueryClient } from '@tanstack/react-query';
import type { PlanView, PluginView } from '@headgate/api-contracts';
import { useState } from 'react';
import { PAGE_FOCUS } from '../../../shared/location/use-page-focus.js';
import { PlanDialog } from '../../../shared/plans/plan-dialog.js';
import { readOnlyReason, useWhoami } from '../../../shared/queries/use-whoami.js';
import { Alert } from '../../../shared/ui/alert.js';
import { ErrorAlert } from '../../../shared/ui/error-alert.js';
import { Skeleton } from '../../../shared/ui/loading.js';
import { useNotify } from '../../../shared/ui/notifications.js';
import { ReasonedButton } from '../../../shared/ui/reasoned-button.js';
import { ReloadButton } from '../../../shared/ui/reload-button.js';
import { Table } from '../../../shared/ui/table.js';
import { usePageTitle } from '../../../shared/ui/use-page-title.js';
import {
  installPlugin,
  PLUGINS_KEY,
  previewInstallation,
  previewRemoval,
  removePlugin,
  usePlugins,
} from '../api/plugin-requests.js';

/** A change that waits for a confirmation. */
interface Change {
  readonly title: string;
  readonly label: string;
  readonly done: string;
  readonly isDanger?: boolean;
  readonly preview: (signal: AbortSignal) => Promise<PlanView>;
  readonly run: () => Promise<unknown>;
}

const installation = ({ name }: PluginView, label: string, done: string): Change => ({
  title: `${label} ${name}`,
  label,
  done: `${name} was ${done}`,
  preview: (signal) => previewInstallation(name, signal),
  run: () => installPlugin(name),
});

const removal = ({ name }: PluginView): Change => ({
  title: `Remove ${name}?`,
  label: 'Remove',
  done: `${name} was removed`,
  isDanger: true,
  preview: (signal) => previewRemoval(name, signal),
  run: () => removePlugin(name),
});

/** The change that brings a plugin to the offered version. */
function offered(plugin: PluginView): Change | undefined {
  if (!plugin.inStore) return undefined;
  if (!plugin.installed) return installation(plugin, 'Install', 'installed');
  if (plugin.problem !== undefined) return installation(plugin, 'Reinstall', 'installed again');
  return plugin.availableVersion === undefined ? undefined : installation(plugin, 'Upgrade', 'upgraded');
}

/** The plugins of all stores, and the installed ones. */
export function PluginsPage() {
  usePageTitle('Plugins');
  const { data, error, refetch, isFetching } = usePlugins();
  const { data: whoami } = useWhoami();
  const [change, setChange] = useState<Change>();
  const queries = useQueryClient();
  const notify = useNotify();
  return (
    <div className="hg-page">
      <div className="hg-toolbar hg-gap-below">
        <h1 className="hg-page-title" {...PAGE_FOCUS}>
          Plugins
        </h1>
        <span className="hg-spring" />
        <ReloadButton isLoading={isFetching} onReload={() => void refetch()} />
      </div>
      {error && <ErrorAlert title="Couldn't load the plugins" error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Skeleton height="10rem" label="Loading plugins" />}
      {data?.isPartial && (
        <Alert isPlain variant="warning" title="A plugin index could not be read. Its plugins are not in this list." />
      )}
      {data && <PluginTable plugins={data.plugins} refusal={readOnlyReason(whoami)} onChange={setChange} />}
      {change && (
        <PlanDialog
          title={change.title}
          label={change.label}
          failure="Couldn't change the plugins"
          isDanger={change.isDanger ?? false}
          preview={change.preview}
          run={change.run}
          onClose={() => setChange(undefined)}
          onDone={() => {
            setChange(undefined);
            notify({ variant: 'success', title: change.done });
            void queries.invalidateQueries({ queryKey: PLUGINS_KEY });
            // A plugin can add to the capabilities.
            void queries.invalidateQueries({ queryKey: ['capabilities'] });
          }}
        />
      )}
    </div>
  );
}

interface PluginTableProps {
  plugins: readonly PluginView[];
  refusal: string | undefined;
  onChange: (change: Change) => void;
}

function PluginTable({ plugins, refusal, onChange }: PluginTableProps) {
  return (
    <Table label="Plugins" columns={['Name', 'Description', 'Version', 'Origin', 'State', 'Actions']}>
      {plugins.map((plugin) => {
        const changes = [offered(plugin), plugin.installed ? removal(plugin) : undefined];
        return (
          <tr key={plugin.name}>
            <td>{plugin.name}</td>
            <td>{plugin.description}</td>
            <td>{plugin.version}</td>
            <td>{originOf(plugin)}</td>
            <td>{stateOf(plugin)}</td>
            <td>
              {changes.map(
                (change) =>
                  change && (
                    <ReasonedButton
                      key={change.label}
                      variant="link"
                      aria-label={`${change.label} ${plugin.name}`}
                      reason={refusal}
                      onClick={() => onChange(change)}
                    >
                      {change.label}
                    </ReasonedButton>
                  ),
              )}
            </td>
          </tr>
        );
      })}
    </Table>
  );
}

const originOf = ({ origin, publisher }: PluginView): string => {
  const place = origin === 'bundled' ? 'Bundled' : (origin ?? '');
  return publisher === undefined ? place : `${place}, signed by ${publisher}`;
};

function stateOf({ installed, problem, availableVersion }: PluginView): string {
  if (problem !== undefined) return problem;
  if (!installed) return 'Not installed';
  return availableVersion === undefined ? 'Installed' : `Installed, ${availableVersion} is available`;
}
