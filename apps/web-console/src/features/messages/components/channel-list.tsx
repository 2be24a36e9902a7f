import { t } from '@lingui/core/macro';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { MessageChannelView } from '@headgate/api-contracts';
import { useState } from 'react';
import { usePlannedChange } from '../../../shared/plans/use-planned-change.js';
import { Alert } from '../../../shared/ui/alert.js';
import { Button } from '../../../shared/ui/button.js';
import { Data } from '../../../shared/ui/data.js';
import { ErrorAlert } from '../../../shared/ui/error-alert.js';
import { ListStates } from '../../../shared/ui/list-states.js';
import { ServiceText } from '../../../shared/ui/service-text.js';
import { Table } from '../../../shared/ui/table.js';
import { deletingChannel, MESSAGES_KEY, testChannel, useChannels } from '../api/message-requests.js';
import { targetText } from '../channel-form.js';
import { channelKinds } from '../message-wording.js';
import { ChannelFormSection } from './channel-form-section.js';

/** Where messages are sent to. Administrators change it; others see the channels that are for all. */
export function ChannelList({ isAdmin }: { isAdmin: boolean }) {
  const query = useChannels();
  const [edited, setEdited] = useState<string>();
  const queries = useQueryClient();
  const reload = (): void => void queries.invalidateQueries({ queryKey: MESSAGES_KEY });
  const { ask, panel } = usePlannedChange(t`Couldn't delete the channel`, reload);
  const test = useMutation({ mutationFn: ({ id }: MessageChannelView) => testChannel(id) });
  const tested = test.variables?.name ?? '';

  const remove = ({ id, name }: MessageChannelView): void =>
    ask({
      title: t`Delete ${name}?`,
      label: t`Delete`,
      done: t`${name} was deleted`,
      isDanger: true,
      ...deletingChannel(id),
    });

  return (
    <section aria-label={t`Channels`} className="hg-section">
      <h2>{t`Channels`}</h2>
      <p className="hg-note">
        {isAdmin
          ? t`Where messages are sent to. Passwords and tokens are stored, and never shown.`
          : t`The channels that your rules may use. Administrators create them.`}
      </p>
      {test.error && <ErrorAlert title={t`Couldn't test ${tested}`} error={test.error} />}
      {test.data && (
        <Alert
          variant={test.data.sent ? 'success' : 'danger'}
          title={test.data.sent ? t`${tested} has accepted the test message` : t`${tested} has not accepted the test`}
          onDismiss={() => test.reset()}
        >
          {test.data.reason === '' ? undefined : <ServiceText>{test.data.reason}</ServiceText>}
        </Alert>
      )}
      <ListStates
        query={query}
        failure={t`Couldn't load the channels`}
        loading={t`Loading the channels`}
        empty={t`No channels yet`}
      >
        {(channels) => (
          <Table
            label={t`Channels`}
            columns={[t`Name`, t`Kind`, t`Sends to`, t`For all users`, ...(isAdmin ? [t`Actions`] : [])]}
            className="hg-gap-below"
          >
            {channels.map((channel) => {
              const { id, name, kind, shared } = channel;
              return (
                <tr key={id}>
                  <td>
                    <Data>{name}</Data>
                  </td>
                  <td>{channelKinds()[kind]}</td>
                  <td>
                    <Data>{targetText(channel)}</Data>
                  </td>
                  <td>{shared ? t`Yes` : t`No`}</td>
                  {isAdmin && (
                    <td>
                      <Button
                        variant="link"
                        aria-label={t`Test ${name}`}
                        isLoading={test.isPending && tested === name}
                        isDisabled={test.isPending}
                        onClick={() => test.mutate(channel)}
                      >
                        {t`Test`}
                      </Button>
                      <Button variant="link" aria-label={t`Edit ${name}`} onClick={() => setEdited(id)}>
                        {t`Edit`}
                      </Button>
                      <Button variant="link" aria-label={t`Delete ${name}`} onClick={() => remove(channel)}>
                        {t`Delete`}
                      </Button>
                    </td>
                  )}
                </tr>
              );
            })}
          </Table>
        )}
      </ListStates>
      {isAdmin && (
        <ChannelFormSection
          key={edited}
          channel={query.data?.find(({ id }) => id === edited)}
          onSaved={() => {
            setEdited(undefined);
            reload();
          }}
          onCancel={() => setEdited(undefined)}
        />
      )}
      {panel}
    </section>
  );
}
