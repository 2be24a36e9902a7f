import { t } from '@lingui/core/macro';
import type { VmView } from '@headgate/api-contracts';
import { Fragment } from 'react';
import { busyReason } from '../../../shared/instances/busy.js';
import { readableBytes } from '../../../shared/quantity/quantity.js';
import { contextNamed, unavailableReason, useCapabilities } from '../../../shared/queries/use-capabilities.js';
import { readOnlyReason, useWhoami } from '../../../shared/queries/use-whoami.js';
import { ErrorAlert } from '../../../shared/ui/error-alert.js';
import { Skeleton } from '../../../shared/ui/loading.js';
import { ReloadButton } from '../../../shared/ui/reload-button.js';
import { Table } from '../../../shared/ui/table.js';
import { Timestamp } from '../../../shared/ui/timestamp.js';
import { useGuestInfo } from '../api/use-guest-info.js';
import { GuestControl } from './guest-control.js';
import { Data } from '../../../shared/ui/data.js';

/** What the guest's agent reports about its system, users and file systems. */
export function GuestTab({ vm }: { vm: VmView }) {
  const { data: guest, error, refetch, isFetching } = useGuestInfo(vm);
  const { data: whoami } = useWhoami();
  const { data: capabilities } = useCapabilities();
  if (error) {
    return <ErrorAlert title={t`Couldn't read the guest information`} error={error} onRetry={() => void refetch()} />;
  }
  if (!guest) return <Skeleton height="20rem" label={t`Loading the guest information`} />;
  const { os, users, filesystems } = guest;
  const facts = {
    [t`Host name`]: os.hostname,
    [t`Operating system`]: os.prettyName || os.name,
    [t`Version`]: os.version,
    [t`Kernel`]: os.kernel,
  };
  return (
    <div className="hg-page">
      <div className="hg-toolbar hg-gap-below">
        <span className="hg-note">{t`Reported by the guest agent`}</span>
        <span className="hg-spring" />
        <ReloadButton isLoading={isFetching} onReload={() => void refetch()} />
      </div>
      <div className="hg-cards hg-gap-below">
        <section className="hg-card" aria-label={t`System`}>
          <h2>{t`System`}</h2>
          <dl className="hg-facts">
            {Object.entries(facts).map(([term, value]) => (
              <Fragment key={term}>
                <dt>{term}</dt>
                <dd>{value ? <Data>{value}</Data> : t`Unknown`}</dd>
              </Fragment>
            ))}
          </dl>
        </section>
        <section className="hg-card" aria-label={t`Users`}>
          <h2>{t`Users`}</h2>
          {users.length === 0 ? (
            <p className="hg-note">{t`No user is logged in`}</p>
          ) : (
            <dl className="hg-facts">
              {users.map(({ name, loginTime }, index) => (
                <Fragment key={index}>
                  <dt translate="no">{name}</dt>
                  <dd>{loginTime === null ? t`Unknown` : <Timestamp at={loginTime} />}</dd>
                </Fragment>
              ))}
            </dl>
          )}
        </section>
        <GuestControl
          vm={vm}
          reason={
            unavailableReason(contextNamed(capabilities, vm.context), 'guestControl') ??
            readOnlyReason(whoami) ??
            busyReason(vm, 'guest')
          }
        />
      </div>
      {filesystems.length === 0 && <p className="hg-note">{t`The guest agent reports no file systems`}</p>}
      {filesystems.length > 0 && (
        <Table label={t`File systems`} columns={[t`Mounted on`, t`Device`, t`Type`, t`Used`, t`Size`]}>
          {filesystems.map(({ mountPoint, disk, type, usedBytes, totalBytes }, index) => (
            <tr key={index}>
              <td translate="no">{mountPoint}</td>
              <td translate="no">{disk}</td>
              <td translate="no">{type}</td>
              <td>{usedBytes === null ? t`Unknown` : readableBytes(usedBytes)}</td>
              <td>{totalBytes === null ? t`Unknown` : readableBytes(totalBytes)}</td>
            </tr>
          ))}
        </Table>
      )}
    </div>
  );
}
