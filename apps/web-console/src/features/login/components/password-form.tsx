import { t } from '@lingui/core/macro';
import { useId, useState } from 'react';
import { ErrorAlert } from '../../../shared/ui/error-alert.js';
import { LabeledInput } from '../../../shared/ui/labeled-input.js';
import { ReasonedButton } from '../../../shared/ui/reasoned-button.js';

export const MIN_PASSWORD_CHARS = 12;

interface Entered {
  readonly login: string;
  readonly password: string;
  readonly code: string;
}

interface Props {
  readonly title: string;
  readonly note?: string;
  /** Of the button. */
  readonly label: string;
  /** Given: the login can't be changed. */
  readonly login?: string;
  /** Whether the password is set now. */
  readonly isNew?: boolean;
  readonly hasCode?: boolean;
  readonly onSubmit: (entered: Entered) => Promise<unknown>;
  readonly onDone: () => void;
}

/** A login and a password, with the names that password managers know. */
export function PasswordForm({ title, note, label, login: given = '', isNew, hasCode, onSubmit, onDone }: Props) {
  const heading = useId();
  const [login, setLogin] = useState(given);
  const [password, setPassword] = useState('');
  const [code, setCode] = useState('');
  const [error, setError] = useState<unknown>();
  const [isRunning, setIsRunning] = useState(false);
  const reason =
    login === ''
      ? t`Enter your login first.`
      : hasCode && code === ''
        ? t`Enter a recovery code first.`
        : isNew && [...password].length < MIN_PASSWORD_CHARS
          ? t`A password has at least ${MIN_PASSWORD_CHARS} characters.`
          : password === ''
            ? t`Enter your password first.`
            : undefined;

  const submit = async (): Promise<void> => {
    setIsRunning(true);
    setError(undefined);
    try {
      await onSubmit({ login, password, code });
      onDone();
    } catch (problem) {
      setError(problem);
      setIsRunning(false);
    }
  };

  return (
    <form
      aria-labelledby={heading}
      className="hg-login-form"
      onSubmit={(event) => {
        event.preventDefault();
        if (reason === undefined && !isRunning) void submit();
      }}
    >
      <h2 id={heading}>{title}</h2>
      {note && <p className="hg-note">{note}</p>}
      {error !== undefined && <ErrorAlert title={t`Couldn't log in`} error={error} />}
      <LabeledInput
        label={t`Login`}
        value={login}
        onChange={setLogin}
        readOnly={given !== ''}
        autoComplete="username"
        autoCapitalize="none"
        spellCheck={false}
      />
      {hasCode && <LabeledInput label={t`Recovery code`} value={code} onChange={setCode} autoComplete="off" />}
      <LabeledInput
        label={isNew ? t`New password` : t`Password`}
        type="password"
        value={password}
        onChange={setPassword}
        autoComplete={isNew ? 'new-password' : 'current-password'}
      />
      <ReasonedButton type="submit" reason={reason} isLoading={isRunning}>
        {label}
      </ReasonedButton>
    </form>
  );
}
