import { t } from '@lingui/core/macro';
import { useQueryClient } from '@tanstack/react-query';
import type { PluginView } from '@headgate/api-contracts';
import { useState } from 'react';
import { PAGE_FOCUS } from '../../../shared/location/use-page-focus.js';
import { PlannedChangePanel, type ConfirmedRequest } from '../../../shared/plans/planned-change-panel.js';
import { readOnlyReason, useWhoami } from '../../../shared/queries/use-whoami.js';
import { Alert } from '../../../shared/ui/alert.js';
import { EmptyState } from '../../../shared/ui/empty-state.js';
import { ErrorAlert } from '../../../shared/ui/error-alert.js';
import { Skeleton } from '../../../shared/ui/loading.js';
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

const titleOf = (label: string, name: string): string => t`${label} ${name}`;

/** A change that waits for a confirmation. */
const installation = ({ name }: PluginView, label: string, done: string): ConfirmedRequest => ({
  title: titleOf(label, name),
  label,
  done,
  preview: (signal) => previewInstallation(name, signal),
  run: () => installPlugin(name),
});

const removal = ({ name }: PluginView): ConfirmedRequest => ({
  title: t`Remove ${name}?`,
  label: t`Remove`,
  done: t`${name} was removed`,
  isDanger: true,
  preview: (signal) => previewRemoval(name, signal),
  run: () => removePlugin(name),
});

/** The change that brings a plugin to the offered version. */
function offered(plugin: PluginView): ConfirmedRequest | undefined {
  if (!plugin.inStore) return undefined;
  if (!plugin.installed) return installation(plugin, t`Install`, t`${plugin.name} was installed`);
  if (plugin.problem !== undefined) return installation(plugin, t`Reinstall`, t`${plugin.name} was installed again`);
  return plugin.availableVersion === undefined
    ? undefined
    : installation(plugin, t`Upgrade`, t`${plugin.name} was upgraded`);
}

/** The plugins of all stores, and the installed ones. */
export function PluginsPage() {
  usePageTitle(t`Plugins`);
  const { data, error, refetch, isFetching } = usePlugins();
  const { data: whoami } = useWhoami();
  const [change, setChange] = useState<ConfirmedRequest>();
  const queries = useQueryClient();
  return (
    <div className="hg-page">
      <div className="hg-toolbar hg-gap-below">
        <h1 className="hg-page-title" {...PAGE_FOCUS}>
          {t`Plugins`}
        </h1>
        <span className="hg-spring" />
        <ReloadButton isLoading={isFetching} onReload={() => void refetch()} />
      </div>
      {error && <ErrorAlert title={t`Couldn't load the plugins`} error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Skeleton height="10rem" label={t`Loading plugins`} />}
      {data?.isPartial && (
        <Alert
          isPlain
          variant="warning"
          title={t`A plugin index could not be read. Its plugins are not in this list.`}
        />
      )}
      {data?.plugins.length === 0 && (
        <EmptyState title={t`No plugins`} level={2}>
          {t`Plugins of the configured indexes appear here.`}
        </EmptyState>
      )}
      {data && data.plugins.length > 0 && (
        <PluginTable plugins={data.plugins} refusal={readOnlyReason(whoami)} onChange={setChange} />
      )}
      {change && (
        <PlannedChangePanel
          change={change}
          failure={t`Couldn't change the plugins`}
          onClose={() => setChange(undefined)}
          onChanged={() => {
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
  onChange: (change: ConfirmedRequest) => void;
}

function PluginTable({ plugins, refusal, onChange }: PluginTableProps) {
  return (
    <Table label={t`Plugins`} columns={[t`Name`, t`Description`, t`Version`, t`Origin`, t`State`, t`Actions`]}>
      {plugins.map((plugin) => {
        const changes = [offered(plugin), plugin.installed ? removal(plugin) : undefined];
        return (
          <tr key={plugin.name}>
            <td translate="no">{plugin.name}</td>
            <td lang="en">{plugin.description}</td>
            <td translate="no">{plugin.version}</td>
            <td>{originOf(plugin)}</td>
            <td>{stateOf(plugin)}</td>
            <td>
              {changes.map(
                (change) =>
                  change && (
                    <ReasonedButton
                      key={change.label}
                      variant="link"
                      aria-label={titleOf(change.label, plugin.name)}
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
  const place = origin === 'bundled' ? t`Bundled` : (origin ?? '');
  return publisher === undefined ? place : t`${place}, signed by ${publisher}`;
};

function stateOf({ installed, problem, availableVersion }: PluginView): string {
  if (problem !== undefined) return problem;
  if (!installed) return t`Not installed`;
  return availableVersion === undefined ? t`Installed` : t`Installed, ${availableVersion} is available`;
}
