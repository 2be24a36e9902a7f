import { t } from '@lingui/core/macro';
import { useQueryClient } from '@tanstack/react-query';
import type { CreatedWebhookView, WebhookView } from '@headgate/api-contracts';
import { useState } from 'react';
import { usePlannedChange } from '../../../shared/plans/use-planned-change.js';
import { Alert } from '../../../shared/ui/alert.js';
import { Button } from '../../../shared/ui/button.js';
import { ListStates } from '../../../shared/ui/list-states.js';
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
  const query = useWebhooks();
  const [created, setCreated] = useState<CreatedWebhookView>();
  const queries = useQueryClient();
  const reload = (): void => void queries.invalidateQueries({ queryKey: WEBHOOKS_KEY });
  const { ask, panel } = usePlannedChange(t`Couldn't change the webhook`, reload);

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
      <ListStates
        query={query}
        failure={t`Couldn't load the webhooks`}
        loading={t`Loading the webhooks`}
        empty={t`No webhooks yet`}
      >
        {(webhooks) => (
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
                        ask({
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
                      ask({
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
      </ListStates>
      <WebhookForm
        key={created?.id}
        onCreated={(webhook) => {
          setCreated(webhook);
          reload();
        }}
      />
      {panel}
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
