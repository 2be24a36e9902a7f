import { t } from '@lingui/core/macro';
import { useQueryClient } from '@tanstack/react-query';
import type { AccountView, AccountWithSecretView } from '@headgate/api-contracts';
import { useState } from 'react';
import { Alert } from '../../../shared/ui/alert.js';
import { Data } from '../../../shared/ui/data.js';
import { ErrorAlert } from '../../../shared/ui/error-alert.js';
import { LabeledInput } from '../../../shared/ui/labeled-input.js';
import { ReasonedButton } from '../../../shared/ui/reasoned-button.js';
import { Table } from '../../../shared/ui/table.js';
import { perLanguage } from '../../../shared/texts/per-language.js';
import {
  ACCOUNTS_KEY,
  changeAccount,
  createAccount,
  deleteAccount,
  resetAccount,
  useAccounts,
} from '../api/login-requests.js';

const columns = perLanguage(() => [t`Login`, t`Role`, t`State`, t`Actions`]);

/** The accounts of the service, for administrators. */
export function AccountList({ own }: { own: string }) {
  const { data: accounts, error } = useAccounts(true);
  const queries = useQueryClient();
  const [login, setLogin] = useState('');
  const [isAdmin, setIsAdmin] = useState(false);
  const [sent, setSent] = useState<AccountWithSecretView>();
  const [problem, setProblem] = useState<unknown>();
  const attempt = async (work: () => Promise<unknown>): Promise<void> => {
    setProblem(undefined);
    try {
      await work();
    } catch (thrown) {
      setProblem(thrown);
    }
    await queries.invalidateQueries({ queryKey: ACCOUNTS_KEY });
  };
  const create = () =>
    attempt(async () => {
      setSent(await createAccount(login, isAdmin));
      setLogin('');
      setIsAdmin(false);
    });
  const reason = login === '' ? t`Enter a login first.` : undefined;

  return (
    <section aria-label={t`Accounts`} className="hg-section">
      <h2>{t`Accounts`}</h2>
      <p className="hg-note">{t`Users who log in with a password of this service`}</p>
      {error && <ErrorAlert title={t`Couldn't load the accounts`} error={error} />}
      {problem !== undefined && <ErrorAlert title={t`Couldn't change the accounts`} error={problem} />}
      {sent && (
        <Alert
          variant="success"
          title={t`Send this link to ${sent.login}: it is valid once, for three days.`}
          onDismiss={() => setSent(undefined)}
        >
          <code>{linkFor(sent)}</code>
        </Alert>
      )}
      {accounts && accounts.length > 0 && (
        <Table label={t`Accounts`} columns={columns()} className="hg-gap-below">
          {accounts.map((account) => (
            <tr key={account.login}>
              <td>
                <Data>{account.login}</Data>
              </td>
              <td>{account.admin ? t`Administrator` : t`User`}</td>
              <td>{stateOf(account)}</td>
              <td>
                <Actions account={account} isOwn={account.login === own} attempt={attempt} onSent={setSent} />
              </td>
            </tr>
          ))}
        </Table>
      )}
      <form
        aria-label={t`New account`}
        className="hg-toolbar hg-toolbar--fields"
        onSubmit={(event) => {
          event.preventDefault();
          if (reason === undefined) void create();
        }}
      >
        <LabeledInput label={t`Login`} value={login} onChange={setLogin} autoComplete="off" autoCapitalize="none" />
        <label>
          <input type="checkbox" checked={isAdmin} onChange={({ target }) => setIsAdmin(target.checked)} />{' '}
          {t`Administrator`}
        </label>
        <ReasonedButton variant="secondary" type="submit" reason={reason}>
          {t`Create account`}
        </ReasonedButton>
      </form>
    </section>
  );
}

interface ActionsProps {
  readonly account: AccountView;
  readonly isOwn: boolean;
  readonly attempt: (work: () => Promise<unknown>) => Promise<void>;
  readonly onSent: (sent: AccountWithSecretView) => void;
}

function Actions({ account: { login, disabled, admin }, isOwn, attempt, onSent }: ActionsProps) {
  const reason = isOwn ? t`This is your own account.` : undefined;
  return (
    <>
      <ReasonedButton
        variant="link"
        aria-label={disabled ? t`Enable ${login}` : t`Disable ${login}`}
        reason={reason}
        onClick={() => void attempt(() => changeAccount(login, { disabled: !disabled }))}
      >
        {disabled ? t`Enable` : t`Disable`}
      </ReasonedButton>
      <ReasonedButton
        variant="link"
        aria-label={admin ? t`Make user: ${login}` : t`Make administrator: ${login}`}
        reason={reason}
        onClick={() => void attempt(() => changeAccount(login, { admin: !admin }))}
      >
        {admin ? t`Make user` : t`Make administrator`}
      </ReasonedButton>
      <ReasonedButton
        variant="link"
        aria-label={t`Reset password: ${login}`}
        reason={reason}
        onClick={() => void attempt(async () => onSent(await resetAccount(login)))}
      >
        {t`Reset password`}
      </ReasonedButton>
      <ReasonedButton
        variant="link"
        aria-label={t`Delete ${login}`}
        reason={reason}
        onClick={() => void attempt(() => deleteAccount(login))}
      >
        {t`Delete`}
      </ReasonedButton>
    </>
  );
}

const stateOf = ({ disabled, ready }: AccountView): string =>
  disabled ? t`Disabled` : ready ? t`Enabled` : t`No password yet`;

const linkFor = ({ login, secret }: AccountWithSecretView): string =>
  `${location.origin}/#/login?${new URLSearchParams({ setup: secret, login })}`;
