import { t } from '@lingui/core/macro';
import { useState } from 'react';
import { Alert } from '../../../shared/ui/alert.js';
import { ErrorAlert } from '../../../shared/ui/error-alert.js';
import { LabeledInput } from '../../../shared/ui/labeled-input.js';
import { useNotify } from '../../../shared/ui/notifications.js';
import { ReasonedButton } from '../../../shared/ui/reasoned-button.js';
import { changePassword, createRecoveryCodes } from '../api/login-requests.js';
import { MIN_PASSWORD_CHARS } from './password-form.js';

/** Changes the password of the user, and creates recovery codes. */
export function OwnPassword() {
  const [current, setCurrent] = useState('');
  const [next, setNext] = useState('');
  const [codes, setCodes] = useState<readonly string[]>();
  const [error, setError] = useState<unknown>();
  const notify = useNotify();
  const missing = current === '' ? t`Enter your password first.` : undefined;
  const reason =
    missing ??
    ([...next].length < MIN_PASSWORD_CHARS ? t`A password has at least ${MIN_PASSWORD_CHARS} characters.` : undefined);

  const attempt = async (work: () => Promise<void>): Promise<void> => {
    setError(undefined);
    try {
      await work();
      setCurrent('');
      setNext('');
    } catch (problem) {
      setError(problem);
    }
  };
  const change = () =>
    attempt(async () => {
      await changePassword(current, next);
      notify({ variant: 'success', title: t`The password was changed, and your other sessions have ended` });
    });
  const create = () => attempt(async () => setCodes((await createRecoveryCodes(current)).codes));

  return (
    <section aria-label={t`Password`} className="hg-section">
      <h2>{t`Password`}</h2>
      {error !== undefined && <ErrorAlert title={t`Couldn't change the password`} error={error} />}
      {codes && (
        <Alert
          variant="success"
          title={t`Write the recovery codes down now: they are not shown again.`}
          onDismiss={() => setCodes(undefined)}
        >
          <p>{t`Each code sets a new password once. Former codes are not valid any more.`}</p>
          <pre translate="no">{codes.join('\n')}</pre>
        </Alert>
      )}
      <form
        aria-label={t`Password`}
        className="hg-toolbar hg-toolbar--fields"
        onSubmit={(event) => {
          event.preventDefault();
          if (reason === undefined) void change();
        }}
      >
        <LabeledInput
          label={t`Current password`}
          type="password"
          autoComplete="current-password"
          value={current}
          onChange={setCurrent}
        />
        <LabeledInput
          label={t`New password`}
          type="password"
          autoComplete="new-password"
          value={next}
          onChange={setNext}
        />
        <ReasonedButton variant="secondary" type="submit" reason={reason}>
          {t`Change password`}
        </ReasonedButton>
        <ReasonedButton variant="secondary" reason={missing} onClick={() => void create()}>
          {t`Create recovery codes`}
        </ReasonedButton>
      </form>
    </section>
  );
}
