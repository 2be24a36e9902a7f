import { t } from '@lingui/core/macro';
import { useQueryClient } from '@tanstack/react-query';
import type { CreatedWebhookView, WebhookView } from '@headgate/api-contracts';
import { useState } from 'react';
import { PlanPanel } from '../../../shared/plans/plan-panel.js';
import { usePlannedChange } from '../../../shared/plans/use-planned-change.js';
import { Alert } from '../../../shared/ui/alert.js';
import { Button } from '../../../shared/ui/button.js';
import { ListStates } from '../../../shared/ui/list-states.js';
import { ServiceText } from '../../../shared/ui/service-text.js';
import { Table } from '../../../shared/ui/table.js';
import { Timestamp } from '../../../shared/ui/timestamp.js';
import {
  deleteWebhook,
  previewDeletion,
  previewReplay,
  previewWebhookRotation,
  replayWebhook,
  rotateWebhook,
  testWebhook,
  useWebhooks,
  WEBHOOKS_KEY,
} from '../api/webhook-requests.js';
import { scopeText } from './scope-text.js';
import { webhookEvents, WebhookForm } from './webhook-form.js';
import { WebhookScopeForm } from './webhook-scope-form.js';

/** The URLs to which changes and ends of tasks are sent, with a form to add one. */
export function WebhookList() {
  const query = useWebhooks();
  const [created, setCreated] = useState<CreatedWebhookView>();
  const [rotated, setRotated] = useState<WebhookView>();
  const [changed, setChanged] = useState<WebhookView>();
  const [tested, setTested] = useState<TestResult>();
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
          title={t`Copy the secret of ${created.name} now: it is not shown again.`}
          onDismiss={() => setCreated(undefined)}
        >
          <code>{created.secret}</code>
        </Alert>
      )}
      {tested && (
        <Alert
          variant={tested.reason === '' ? 'success' : 'danger'}
          title={
            tested.reason === '' ? t`${tested.name} has accepted a test message` : t`The test of ${tested.name} failed`
          }
          onDismiss={() => setTested(undefined)}
        >
          {tested.reason !== '' && <ServiceText>{tested.reason}</ServiceText>}
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
            columns={[t`Name`, 'URL', t`Events`, t`Instances`, t`Created by`, t`State`, t`Last delivery`, t`Actions`]}
            className="hg-gap-below"
          >
            {webhooks.map((webhook) => (
              <tr key={webhook.id}>
                <td>{webhook.name}</td>
                <td>{webhook.url}</td>
                <td>{webhook.events.map((event) => webhookEvents()[event]).join(', ')}</td>
                <td>{scopeText(webhook.scope)}</td>
                <td>{webhook.creator || '–'}</td>
                <td>{stateOf(webhook)}</td>
                <td>{webhook.lastDeliveredAt === null ? t`Never` : <Timestamp at={webhook.lastDeliveredAt} />}</td>
                <td>
                  {(webhook.lastError !== '' || webhook.paused !== undefined) && (
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
                    aria-label={t`Test ${webhook.name}`}
                    onClick={() => void test(webhook).then(setTested)}
                  >
                    {t`Test`}
                  </Button>
                  <Button
                    variant="link"
                    aria-label={t`Change the scope of ${webhook.name}`}
                    onClick={() => setChanged(webhook)}
                  >
                    {t`Change scope`}
                  </Button>
                  <Button
                    variant="link"
                    aria-label={t`Rotate the secret of ${webhook.name}`}
                    onClick={() => setRotated(webhook)}
                  >
                    {t`Rotate`}
                  </Button>
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
      {changed && (
        <WebhookScopeForm
          key={`scope-${changed.id}`}
          webhook={changed}
          onClose={() => setChanged(undefined)}
          onChanged={() => {
            setChanged(undefined);
            reload();
          }}
        />
      )}
      <WebhookForm
        key={created?.id}
        onCreated={(webhook) => {
          setCreated(webhook);
          reload();
        }}
      />
      {rotated && (
        <PlanPanel
          title={t`Rotate the secret of ${rotated.name}?`}
          label={t`Rotate`}
          failure={t`Couldn't rotate ${rotated.name}`}
          isDanger
          preview={(signal) => previewWebhookRotation(rotated.id, signal)}
          run={() => rotateWebhook(rotated.id)}
          onClose={() => setRotated(undefined)}
          onDone={(webhook) => {
            setRotated(undefined);
            setCreated(webhook);
            reload();
          }}
        />
      )}
      {panel}
    </section>
  );
}

interface TestResult {
  readonly name: string;
  /** Empty if the message was accepted. */
  readonly reason: string;
}

async function test({ id, name }: WebhookView): Promise<TestResult> {
  try {
    const { reason } = await testWebhook(id);
    return { name, reason };
  } catch (error) {
    return { name, reason: (error as Error).message };
  }
}

/** `Disabled: The receiver answered with status 500.` */
function stateOf({ disabled, paused, lastError, attempts, missed }: WebhookView): string {
  if (paused !== undefined) return t`Paused: ${paused}`;
  const state = disabled
    ? t`Disabled: ${lastError}`
    : lastError === ''
      ? t`Active`
      : t`Attempt ${attempts} failed: ${lastError}`;
  return missed === 0 ? state : t`${state} ${missed} events were dropped.`;
}
