import { plural, t } from '@lingui/core/macro';
import type { DeviceRequestView } from '@headgate/api-contracts';
import { tokenActions } from '../../../shared/texts/action-names.js';
import { Alert } from '../../../shared/ui/alert.js';
import { Button } from '../../../shared/ui/button.js';
import { Data } from '../../../shared/ui/data.js';
import { Facts } from '../../../shared/ui/facts.js';
import { Timestamp } from '../../../shared/ui/timestamp.js';

interface Props {
  readonly request: DeviceRequestView;
  /** Of the user. */
  readonly login: string;
  readonly isRunning: boolean;
  readonly onApprove: () => void;
  readonly onDeny: () => void;
}

/** A program that waits, with all that a user needs to recognize one that is not theirs. */
export function DeviceRequest({ request, login, isRunning, onApprove, onDeny }: Props) {
  const { machine, address, ownAddress, actions, days, createdAt } = request;
  const duration = plural(days, { one: '# day', other: '# days' });
  return (
    <section aria-label={t`Program`} className="hg-section">
      <p>{t`A program wants to act for you (${login}).`}</p>
      <Facts
        className="hg-facts"
        facts={{
          [t`Machine`]: <Data>{machine}</Data>,
          [t`Address`]: <Data>{address}</Data>,
          [t`Asked`]: <Timestamp at={createdAt} />,
          [t`May do`]: actions.map((action) => tokenActions()[action]).join(', '),
          [t`Valid for`]: duration,
        }}
      />
      <p className="hg-note">{t`It can do no more than you, and you can revoke it on the page of your account.`}</p>
      {address !== ownAddress && (
        <Alert variant="warning" title={t`The program runs at another address than this browser`}>
          {t`It asks from ${address}, and you from ${ownAddress}. Approve it only if that is your own machine.`}
        </Alert>
      )}
      <Alert variant="info" title={t`Did you start this program yourself?`}>
        {t`The service can not check the name of the machine. If you received the code in a message or on the phone, deny it.`}
      </Alert>
      <div className="hg-toolbar">
        <Button isLoading={isRunning} onClick={onApprove}>
          {t`Approve`}
        </Button>
        <Button variant="secondary" isDisabled={isRunning} onClick={onDeny}>
          {t`Deny`}
        </Button>
      </div>
    </section>
  );
}
