import { t } from '@lingui/core/macro';
import { useState } from 'react';
import { Alert } from '../../../shared/ui/alert.js';
import { Button } from '../../../shared/ui/button.js';
import { ErrorAlert } from '../../../shared/ui/error-alert.js';
import { hasPasskeys, logInWithPasskey } from '../api/passkey-requests.js';

/** Logs in with a passkey, if the browser has any. */
export function PasskeyLogin({ onDone }: { onDone: () => void }) {
  const [error, setError] = useState<unknown>();
  const [isCanceled, setIsCanceled] = useState(false);
  const [isRunning, setIsRunning] = useState(false);
  if (!hasPasskeys()) return null;
  const logIn = async (): Promise<void> => {
    setError(undefined);
    setIsCanceled(false);
    setIsRunning(true);
    try {
      if (await logInWithPasskey()) return onDone();
      setIsCanceled(true);
    } catch (problem) {
      setError(problem);
    }
    setIsRunning(false);
  };
  return (
    <>
      {error !== undefined && <ErrorAlert title={t`Couldn't log in`} error={error} />}
      {isCanceled && (
        <div role="alert">
          <Alert variant="warning" title={t`No passkey was used`}>
            {t`You canceled, or this browser has no passkey for this address.`}
          </Alert>
        </div>
      )}
      <Button variant="secondary" isLoading={isRunning} onClick={() => void logIn()}>
        {t`Log in with a passkey`}
      </Button>
    </>
  );
}
