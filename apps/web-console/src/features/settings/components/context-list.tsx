import { t } from '@lingui/core/macro';
import { useQueryClient } from '@tanstack/react-query';
import type { ContextView } from '@headgate/api-contracts';
import { useState } from 'react';
import { PlannedChangePanel, type ConfirmedRequest } from '../../../shared/plans/planned-change-panel.js';
import { perLanguage } from '../../../shared/texts/per-language.js';
import { Alert } from '../../../shared/ui/alert.js';
import { Button } from '../../../shared/ui/button.js';
import { ErrorAlert } from '../../../shared/ui/error-alert.js';
import { Skeleton } from '../../../shared/ui/loading.js';
import { StatusLabel } from '../../../shared/ui/status-label.js';
import type { StatusWording } from '../../../shared/ui/status-tone.js';
import { Table } from '../../../shared/ui/table.js';
import { CONTEXTS_KEY, previewRemoval, removeContext, useContextList } from '../api/context-requests.js';
import { kindFields } from '../context-form.js';
import { ChangeContext } from './change-context.js';
import { NewContext } from './new-context.js';
import { Data } from '../../../shared/ui/data.js';
import { ServiceText } from '../../../shared/ui/service-text.js';

const states = perLanguage((): Readonly<Record<ContextView['state'], StatusWording>> => ({
  connecting: { tone: 'progress', icon: 'arc', words: t`Connecting` },
  up: { tone: 'success', icon: 'dot', words: t`Reachable` },
  lost: { tone: 'danger', icon: 'diamond', words: t`Unreachable` },
  unused: { tone: 'neutral', icon: 'ring', words: t`Not used` },
}));

/** The panel next to the list. */
interface OpenPanel {
  /** The context whose form is open. */
  readonly changed?: ContextView;
  readonly removal?: ConfirmedRequest;
}

/** The contexts of the service, with a form to add one. */
export function ContextList() {
  const { data, error, refetch } = useContextList();
  const [{ changed, removal }, open] = useState<OpenPanel>({});
  const queries = useQueryClient();
  const close = (): void => open({});
  const reload = (): void => void queries.invalidateQueries({ queryKey: CONTEXTS_KEY });

  return (
    <section aria-label={t`Contexts`} className="hg-section">
      <h2>{t`Contexts`}</h2>
      <p className="hg-note">{t`The clusters, machines and servers whose VMs and containers are listed`}</p>
      {error && <ErrorAlert title={t`Couldn't load the contexts`} error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Skeleton height="6rem" label={t`Loading the contexts`} />}
      {data?.contexts.length === 0 && <p className="hg-note">{t`No contexts yet`}</p>}
      {data && data.contexts.length > 0 && (
        <Table
          label={t`Contexts`}
          columns={[t`Name`, t`Kind`, t`State`, t`Settings`, t`Actions`]}
          className="hg-gap-below"
        >
          {data.contexts.map((context) => (
            <ContextRow
              key={`${context.origin}/${context.name}`}
              context={context}
              onChange={data.refusal === undefined ? () => open({ changed: context }) : undefined}
              onRemove={() => open({ removal: removalOf(context.name) })}
            />
          ))}
        </Table>
      )}
      {data?.refusal !== undefined && (
        <Alert variant="info" title={t`You can't add contexts here`}>
          <ServiceText>{data.refusal}</ServiceText>
        </Alert>
      )}
      {data && data.refusal === undefined && <NewContext kinds={data.kinds} onAdded={reload} />}
      {changed && <ChangeContext key={changed.name} context={changed} onClose={close} onChanged={reload} />}
      {removal && (
        <PlannedChangePanel
          change={removal}
          failure={t`Couldn't remove the context`}
          onClose={close}
          onChanged={reload}
        />
      )}
    </section>
  );
}

const removalOf = (name: string): ConfirmedRequest => ({
  title: t`Remove ${name}?`,
  label: t`Remove`,
  done: t`${name} was removed`,
  isDanger: true,
  preview: (signal) => previewRemoval(name, signal),
  run: () => removeContext(name),
});

interface ContextRowProps {
  context: ContextView;
  /** Absent: the user may not change contexts. */
  onChange: (() => void) | undefined;
  onRemove: () => void;
}

function ContextRow({ context, onChange, onRemove }: ContextRowProps) {
  const { name, kind, origin, state, reason, settings } = context;
  const shown = Object.entries(settings).map(([key, value]) => `${key}: ${value}`);
  return (
    <tr>
      <td translate="no">{name}</td>
      <td>{kindFields()[kind]?.label ?? <Data>{kind}</Data>}</td>
      <td>
        <StatusLabel wording={states()[state]} />
        {reason !== undefined && (
          <p className="hg-note" lang="en">
            {reason}
          </p>
        )}
      </td>
      <td>{shown.length === 0 ? t`None` : <Data>{shown.join(', ')}</Data>}</td>
      <td>
        {origin === 'added' ? (
          <>
            {onChange && kind in kindFields() && (
              <Button variant="link" aria-label={t`Change ${name}`} onClick={onChange}>
                {t`Change`}
              </Button>
            )}
            <Button variant="link" aria-label={t`Remove ${name}`} onClick={onRemove}>
              {t`Remove`}
            </Button>
          </>
        ) : (
          <span className="hg-note">{t`From the configuration`}</span>
        )}
      </td>
    </tr>
  );
}
