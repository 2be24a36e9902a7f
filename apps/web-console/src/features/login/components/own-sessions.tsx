import { t } from '@lingui/core/macro';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from '../../../shared/ui/button.js';
import { Data } from '../../../shared/ui/data.js';
import { ErrorAlert } from '../../../shared/ui/error-alert.js';
import { Skeleton } from '../../../shared/ui/loading.js';
import { Table } from '../../../shared/ui/table.js';
import { Timestamp } from '../../../shared/ui/timestamp.js';
import { perLanguage } from '../../../shared/texts/per-language.js';
import { endSession, SESSIONS_KEY, useOwnSessions } from '../api/login-requests.js';

const columns = perLanguage(() => [t`Browser`, t`Address`, t`Logged in`, t`Last used`, t`Ends`, t`Actions`]);

/** The browsers in which the user has logged in. */
export function OwnSessions() {
  const { data: sessions, error, refetch } = useOwnSessions();
  const queries = useQueryClient();
  const [problem, setProblem] = useState<unknown>();
  const end = async (id: string): Promise<void> => {
    setProblem(undefined);
    try {
      await endSession(id);
      await queries.invalidateQueries({ queryKey: SESSIONS_KEY });
    } catch (thrown) {
      setProblem(thrown);
    }
  };
  return (
    <section aria-label={t`Sessions`} className="hg-section">
      <h2>{t`Sessions`}</h2>
      {error && <ErrorAlert title={t`Couldn't load the sessions`} error={error} onRetry={() => void refetch()} />}
      {problem !== undefined && <ErrorAlert title={t`Couldn't end the session`} error={problem} />}
      {!sessions && !error && <Skeleton height="6rem" label={t`Loading the sessions`} />}
      {sessions && (
        <Table label={t`Sessions`} columns={columns()}>
          {sessions.map(({ id, agent, address, createdAt, lastUsedAt, expiresAt, current }) => (
            <tr key={id}>
              <td>
                <Data>{agent || '–'}</Data>
              </td>
              <td>
                <Data>{address}</Data>
              </td>
              <td>
                <Timestamp at={createdAt} />
              </td>
              <td>{current ? t`This session` : <Timestamp at={lastUsedAt} />}</td>
              <td>
                <Timestamp at={expiresAt} />
              </td>
              <td>
                {!current && (
                  <Button variant="link" aria-label={t`End the session from ${address}`} onClick={() => void end(id)}>
                    {t`End`}
                  </Button>
                )}
              </td>
            </tr>
          ))}
        </Table>
      )}
    </section>
  );
}
