import { t } from '@lingui/core/macro';
import { Data } from '../../../shared/ui/data.js';
import { ErrorAlert } from '../../../shared/ui/error-alert.js';
import { Skeleton } from '../../../shared/ui/loading.js';
import { ServiceText } from '../../../shared/ui/service-text.js';
import { StatusLabel } from '../../../shared/ui/status-label.js';
import { Table } from '../../../shared/ui/table.js';
import { Timestamp } from '../../../shared/ui/timestamp.js';
import { useSentMessages } from '../api/message-requests.js';
import { outcomes } from '../message-wording.js';

/** The last messages of the rules, with their outcome. */
export function SentMessages() {
  const { data: messages, error, refetch } = useSentMessages();
  return (
    <section aria-label={t`Sent messages`} className="hg-section">
      <h2>{t`Sent messages`}</h2>
      {error && <ErrorAlert title={t`Couldn't load the messages`} error={error} onRetry={() => void refetch()} />}
      {!messages && !error && <Skeleton height="6rem" label={t`Loading the messages`} />}
      {messages?.length === 0 && <p className="hg-note">{t`No messages yet`}</p>}
      {messages && messages.length > 0 && (
        <Table label={t`Sent messages`} columns={[t`Time`, t`Rule`, t`Subject`, t`Outcome`]}>
          {messages.map(({ id, createdAt, ruleName, subject, status, reason, attempts }) => (
            <tr key={id}>
              <td>
                <Timestamp at={createdAt} />
              </td>
              <td>
                <Data>{ruleName}</Data>
              </td>
              <td>
                <ServiceText>{subject}</ServiceText>
              </td>
              <td>
                <StatusLabel wording={outcomes()[status]} />
                {attempts > 1 && <span className="hg-note"> {t`${attempts} attempts`}</span>}
                {reason !== '' && (
                  <p className="hg-note">
                    <ServiceText>{reason}</ServiceText>
                  </p>
                )}
              </td>
            </tr>
          ))}
        </Table>
      )}
    </section>
  );
}
