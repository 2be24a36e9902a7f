import { t } from '@lingui/core/macro';
import type { DeviceRequestView } from '@headgate/api-contracts';
import { useState } from 'react';
import { PAGE_FOCUS } from '../../../shared/location/use-page-focus.js';
import { useWhoami } from '../../../shared/queries/use-whoami.js';
import { Alert } from '../../../shared/ui/alert.js';
import { ErrorAlert } from '../../../shared/ui/error-alert.js';
import { LabeledInput } from '../../../shared/ui/labeled-input.js';
import { ReasonedButton } from '../../../shared/ui/reasoned-button.js';
import { usePageTitle } from '../../../shared/ui/use-page-title.js';
import { approveDevice, denyDevice, findDevice } from '../api/device-requests.js';
import { DeviceRequest } from './device-request.js';

const CODE_LETTERS = 8;

/** The code is typed, never taken from the address: a link that was sent to the user must not let a program in. */
export function DevicePage() {
  usePageTitle(t`Let a program in`);
  const { data: whoami } = useWhoami();
  const [code, setCode] = useState('');
  const [request, setRequest] = useState<DeviceRequestView>();
  const [outcome, setOutcome] = useState<'approved' | 'denied'>();
  const [error, setError] = useState<unknown>();
  const [isRunning, setIsRunning] = useState(false);
  const reason =
    code.replace(/[^A-Za-z]/g, '').length === CODE_LETTERS ? undefined : t`Enter the code of the program first.`;

  const attempt = async (work: () => Promise<void>): Promise<void> => {
    setIsRunning(true);
    setError(undefined);
    try {
      await work();
    } catch (problem) {
      setError(problem);
      setRequest(undefined);
    }
    setIsRunning(false);
  };
  const find = () =>
    attempt(async () => {
      setOutcome(undefined);
      setRequest(await findDevice(code));
    });
  const decide = (next: 'approved' | 'denied') =>
    attempt(async () => {
      await (next === 'approved' ? approveDevice(code) : denyDevice(code));
      setRequest(undefined);
      setCode('');
      setOutcome(next);
    });

  return (
    <div className="hg-page">
      <h1 className="hg-page-title hg-gap-below" {...PAGE_FOCUS}>
        {t`Let a program in`}
      </h1>
      {whoami?.login === '' && (
        <Alert variant="warning" title={t`No program can log in here`}>
          {t`The service does not know who you are, so no program can act for you.`}
        </Alert>
      )}
      {error !== undefined && <ErrorAlert title={t`Couldn't let the program in`} error={error} />}
      {outcome === 'approved' && (
        <div role="status">
          <Alert variant="success" title={t`The program was approved`}>
            {t`It continues in a few seconds. You can close this page. Your account lists the program.`}
          </Alert>
        </div>
      )}
      {outcome === 'denied' && (
        <div role="status">
          <Alert variant="info" title={t`The program was denied`}>
            {t`It can not act for you.`}
          </Alert>
        </div>
      )}
      {request ? (
        <DeviceRequest
          request={request}
          login={whoami?.login ?? ''}
          isRunning={isRunning}
          onApprove={() => void decide('approved')}
          onDeny={() => void decide('denied')}
        />
      ) : (
        whoami !== undefined &&
        whoami.login !== '' && (
          <form
            aria-label={t`Code of the program`}
            className="hg-login-form"
            onSubmit={(event) => {
              event.preventDefault();
              if (reason === undefined && !isRunning) void find();
            }}
          >
            <p>{t`Type the code that the program shows in your terminal.`}</p>
            <p className="hg-note">
              {t`Never type a code that you received in a message or on the phone: its sender could act for you.`}
            </p>
            <LabeledInput
              label={t`Code`}
              value={code}
              onChange={setCode}
              autoComplete="off"
              autoCapitalize="characters"
              spellCheck={false}
              maxLength={20}
              placeholder="WDJB-MJHT"
            />
            <ReasonedButton type="submit" reason={reason} isLoading={isRunning}>
              {t`Continue`}
            </ReasonedButton>
          </form>
        )
      )}
    </div>
  );
}
