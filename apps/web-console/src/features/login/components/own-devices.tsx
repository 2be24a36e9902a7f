import { t } from '@lingui/core/macro';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { tokenActions } from '../../../shared/texts/action-names.js';
import { perLanguage } from '../../../shared/texts/per-language.js';
import { Button } from '../../../shared/ui/button.js';
import { Data } from '../../../shared/ui/data.js';
import { ErrorAlert } from '../../../shared/ui/error-alert.js';
import { ListStates } from '../../../shared/ui/list-states.js';
import { Table } from '../../../shared/ui/table.js';
import { Timestamp } from '../../../shared/ui/timestamp.js';
import { DEVICES_KEY, revokeDevice, useOwnDevices } from '../api/device-requests.js';

const columns = perLanguage(() => [t`Machine`, t`Allows`, t`Approved`, t`Last used`, t`Expires`, t`Actions`]);

/** The programs that the user has let in. */
export function OwnDevices() {
  const query = useOwnDevices();
  const queries = useQueryClient();
  const [problem, setProblem] = useState<unknown>();
  const revoke = async (id: string): Promise<void> => {
    setProblem(undefined);
    try {
      await revokeDevice(id);
    } catch (thrown) {
      setProblem(thrown);
    }
    await queries.invalidateQueries({ queryKey: DEVICES_KEY });
  };
  return (
    <section aria-label={t`Programs`} className="hg-section">
      <h2>{t`Programs`}</h2>
      <p className="hg-note">{t`Programs such as the command line, which you have let act for you with a code`}</p>
      {problem !== undefined && <ErrorAlert title={t`Couldn't revoke the program`} error={problem} />}
      <ListStates
        query={query}
        failure={t`Couldn't load the programs`}
        loading={t`Loading the programs`}
        empty={t`No programs yet`}
      >
        {(devices) => (
          <Table label={t`Programs`} columns={columns()}>
            {devices.map(({ id, name, actions, createdAt, lastUsedAt, expiresAt, expired }) => (
              <tr key={id}>
                <td>
                  <Data>{name}</Data>
                </td>
                <td>{actions.map((action) => tokenActions()[action]).join(', ')}</td>
                <td>
                  <Timestamp at={createdAt} />
                </td>
                <td>{lastUsedAt === null ? t`Never` : <Timestamp at={lastUsedAt} />}</td>
                <td>{expired ? t`Expired` : <Timestamp at={expiresAt} />}</td>
                <td>
                  <Button variant="link" aria-label={t`Revoke ${name}`} onClick={() => void revoke(id)}>
                    {t`Revoke`}
                  </Button>
                </td>
              </tr>
            ))}
          </Table>
        )}
      </ListStates>
    </section>
  );
}
