import { t } from '@lingui/core/macro';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Alert } from '../../../shared/ui/alert.js';
import { Button } from '../../../shared/ui/button.js';
import { Data } from '../../../shared/ui/data.js';
import { ErrorAlert } from '../../../shared/ui/error-alert.js';
import { LabeledInput } from '../../../shared/ui/labeled-input.js';
import { Skeleton } from '../../../shared/ui/loading.js';
import { ReasonedButton } from '../../../shared/ui/reasoned-button.js';
import { Table } from '../../../shared/ui/table.js';
import { Timestamp } from '../../../shared/ui/timestamp.js';
import { perLanguage } from '../../../shared/texts/per-language.js';
import { SESSIONS_KEY } from '../api/login-requests.js';
import { addPasskey, hasPasskeys, PASSKEYS_KEY, removePasskey, usePasskeys } from '../api/passkey-requests.js';

const columns = perLanguage(() => [t`Name`, t`Added`, t`Last used`, t`State`, t`Actions`]);

/** The passkeys of the user. */
export function OwnPasskeys() {
  const { data: passkeys, error, refetch } = usePasskeys();
  const queries = useQueryClient();
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  const [problem, setProblem] = useState<unknown>();
  const [isRunning, setIsRunning] = useState(false);
  const reason = !hasPasskeys()
    ? t`This browser has no passkeys.`
    : name === ''
      ? t`Enter a name first.`
      : password === ''
        ? t`Enter your password first.`
        : undefined;

  const attempt = async (work: () => Promise<unknown>): Promise<void> => {
    setProblem(undefined);
    setIsRunning(true);
    try {
      await work();
    } catch (thrown) {
      setProblem(thrown);
    }
    setIsRunning(false);
    await queries.invalidateQueries({ queryKey: PASSKEYS_KEY });
    await queries.invalidateQueries({ queryKey: SESSIONS_KEY });
  };
  const add = () =>
    attempt(async () => {
      if (!(await addPasskey(name, password))) return;
      setName('');
      setPassword('');
    });

  return (
    <section aria-label={t`Passkeys`} className="hg-section">
      <h2>{t`Passkeys`}</h2>
      <p className="hg-note">{t`Log in with your device or a security key instead of your password.`}</p>
      {error && <ErrorAlert title={t`Couldn't load the passkeys`} error={error} onRetry={() => void refetch()} />}
      {problem !== undefined && <ErrorAlert title={t`Couldn't change the passkeys`} error={problem} />}
      {!passkeys && !error && <Skeleton height="6rem" label={t`Loading the passkeys`} />}
      {passkeys?.some(({ refused }) => refused) && (
        <Alert variant="danger" title={t`A passkey is refused`}>
          {t`A copy of it may exist. Remove it, and change your password if you did not copy it.`}
        </Alert>
      )}
      {passkeys && passkeys.length > 0 && (
        <Table label={t`Passkeys`} columns={columns()}>
          {passkeys.map((one) => (
            <tr key={one.id}>
              <td>
                <Data>{one.name}</Data>
              </td>
              <td>
                <Timestamp at={one.createdAt} />
              </td>
              <td>{one.lastUsedAt === null ? t`Never` : <Timestamp at={one.lastUsedAt} />}</td>
              <td>{one.refused ? t`Refused` : one.synced ? t`On several devices` : t`On one device`}</td>
              <td>
                <Button
                  variant="link"
                  aria-label={t`Remove the passkey ${one.name}`}
                  onClick={() => void attempt(() => removePasskey(one.id))}
                >
                  {t`Remove`}
                </Button>
              </td>
            </tr>
          ))}
        </Table>
      )}
      <form
        aria-label={t`Passkeys`}
        className="hg-toolbar hg-toolbar--fields"
        onSubmit={(event) => {
          event.preventDefault();
          if (reason === undefined && !isRunning) void add();
        }}
      >
        <LabeledInput
          label={t`Name of the passkey`}
          value={name}
          onChange={setName}
          maxLength={60}
          autoComplete="off"
        />
        <LabeledInput
          label={t`Your password`}
          type="password"
          autoComplete="current-password"
          value={password}
          onChange={setPassword}
        />
        <ReasonedButton variant="secondary" type="submit" reason={reason} isLoading={isRunning}>
          {t`Add passkey`}
        </ReasonedButton>
      </form>
    </section>
  );
}
