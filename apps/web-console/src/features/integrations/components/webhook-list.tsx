import { t } from '@lingui/core/macro';
import { useQueryClient } from '@tanstack/react-query';
import type { CreatedWebhookView, WebhookView } from '@headgate/api-contracts';
import { useState } from 'react';
import { PlannedChangePanel, type ConfirmedRequest } from '../../../shared/plans/planned-change-panel.js';
import { Alert } from '../../../shared/ui/alert.js';
import { Button } from '../../../shared/ui/button.js';
import { ErrorAlert } from '../../../shared/ui/error-alert.js';
import { Skeleton } from '../../../shared/ui/loading.js';
import { Table } from '../../../shared/ui/table.js';
import { Timestamp } from '../../../shared/ui/timestamp.js';
import {
  deleteWebhook,
  previewDeletion,
  previewReplay,
  replayWebhook,
  useWebhooks,
  WEBHOOKS_KEY,
} from '../api/webhook-requests.js';
import { webhookEvents, WebhookForm } from './webhook-form.js';

/** The URLs to which changes and ends of tasks are sent, with a form to add one. */
export function WebhookList() {
  const { data: webhooks, error, refetch } = useWebhooks();
  const [created, setCreated] = useState<CreatedWebhookView>();
  const [change, setChange] = useState<ConfirmedRequest>();
  const queries = useQueryClient();
  const reload = (): void => void queries.invalidateQueries({ queryKey: WEBHOOKS_KEY });

  return (
    <section aria-label={t`Webhooks`} className="hg-section">
      <h2>{t`Webhooks`}</h2>
      <p className="hg-note">{t`Signed messages about changes and finished tasks, sent to other services`}</p>
      {created && (
        <Alert
          variant="success"
          title={t`${created.name} was created. Copy the secret now: it is not shown again.`}
          onDismiss={() => setCreated(undefined)}
        >
          <code>{created.secret}</code>
        </Alert>
      )}
      {error && <ErrorAlert title={t`Couldn't load the webhooks`} error={error} onRetry={() => void refetch()} />}
      {!webhooks && !error && <Skeleton height="6rem" label={t`Loading the webhooks`} />}
      {webhooks?.length === 0 && <p className="hg-note">{t`No webhooks yet`}</p>}
      {webhooks && webhooks.length > 0 && (
        <Table
          label={t`Webhooks`}
          columns={[t`Name`, 'URL', t`Events`, t`State`, t`Last delivery`, t`Actions`]}
          className="hg-gap-below"
        >
          {webhooks.map((webhook) => (
            <tr key={webhook.id}>
              <td>{webhook.name}</td>
              <td>{webhook.url}</td>
              <td>{webhook.events.map((event) => webhookEvents()[event]).join(', ')}</td>
              <td>{stateOf(webhook)}</td>
              <td>{webhook.lastDeliveredAt === null ? t`Never` : <Timestamp at={webhook.lastDeliveredAt} />}</td>
              <td>
                {webhook.lastError !== '' && (
                  <Button
                    variant="link"
                    aria-label={t`Retry ${webhook.name}`}
                    onClick={() =>
                      setChange({
                        title: t`Retry ${webhook.name}?`,
                        label: t`Retry`,
                        done: t`${webhook.name} is being retried`,
                        isDanger: false,
                        preview: (signal) => previewReplay(webhook.id, signal),
                        run: () => replayWebhook(webhook.id),
                      })
                    }
                  >
                    {t`Retry`}
                  </Button>
                )}
                <Button
                  variant="link"
                  aria-label={t`Delete ${webhook.name}`}
                  onClick={() =>
                    setChange({
                      title: t`Delete ${webhook.name}?`,
                      label: t`Delete`,
                      done: t`${webhook.name} was deleted`,
                      isDanger: true,
                      preview: (signal) => previewDeletion(webhook.id, signal),
                      run: () => deleteWebhook(webhook.id),
                    })
                  }
                >
                  {t`Delete`}
                </Button>
              </td>
            </tr>
          ))}
        </Table>
      )}
      <WebhookForm
        key={created?.id}
        onCreated={(webhook) => {
          setCreated(webhook);
          reload();
        }}
      />
      {change && (
        <PlannedChangePanel
          change={change}
          failure={t`Couldn't change the webhook`}
          onClose={() => setChange(undefined)}
          onChanged={reload}
        />
      )}
    </section>
  );
}

/** `Disabled: The receiver answered with status 500.` */
function stateOf({ disabled, lastError, attempts, missed }: WebhookView): string {
  const state = disabled
    ? t`Disabled: ${lastError}`
    : lastError === ''
      ? t`Active`
      : t`Attempt ${attempts} failed: ${lastError}`;
  return missed === 0 ? state : t`${state} ${missed} events were dropped.`;
}
