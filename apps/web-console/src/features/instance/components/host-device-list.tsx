import { t } from '@lingui/core/macro';
import { useState } from 'react';
import { ErrorAlert } from '../../../shared/ui/error-alert.js';
import { ReasonedButton } from '../../../shared/ui/reasoned-button.js';
import { Table } from '../../../shared/ui/table.js';
import { useHostResources } from '../api/hardware-requests.js';
import { setDraft, type Drafts } from '../hardware-drafts.js';
import { newRows } from '../hardware-rows.js';
import type { TableState } from './hardware-row.js';

/** The devices of the hosts that the VM could have. */
export function HostDeviceList({ table: { vm, refusal }, drafts }: { table: TableState; drafts: Drafts }) {
  const [isListed, setIsListed] = useState(false);
  const { data, error, refetch } = useHostResources(vm, isListed && refusal === undefined);
  const attach = (name: string): void => {
    const { field = '' } = newRows('device', drafts).at(-1)?.boxes['device'] ?? {};
    setDraft(vm, field, name);
  };
  return (
    <section aria-label={t`Host devices`} className="hg-section">
      <ReasonedButton variant="secondary" reason={refusal} onClick={() => setIsListed(true)}>
        {t`List host devices`}
      </ReasonedButton>
      {error && <ErrorAlert title={t`Couldn't list the devices`} error={error} onRetry={() => void refetch()} />}
      {data && (
        <Table label={t`Devices of the host`} columns={[t`Device`, t`Description`, t`Node`, t`Used by`, t`Actions`]}>
          {data.devices.map(({ name, label, node, usedBy, refusal: why }) => (
            <tr key={`${node} ${name}`}>
              <td>{name}</td>
              <td>{label}</td>
              <td>{node}</td>
              <td>{usedBy.join(', ')}</td>
              <td>
                <ReasonedButton
                  variant="link"
                  aria-label={t`Attach ${name}`}
                  reason={refusal ?? why ?? undefined}
                  onClick={() => attach(name)}
                >
                  {t`Attach`}
                </ReasonedButton>
              </td>
            </tr>
          ))}
        </Table>
      )}
    </section>
  );
}
