import { t } from '@lingui/core/macro';
import { useEffect, useState, type ReactNode } from 'react';
import { Alert } from '../../../shared/ui/alert.js';
import { Button } from '../../../shared/ui/button.js';
import { ErrorAlert } from '../../../shared/ui/error-alert.js';
import { Skeleton } from '../../../shared/ui/loading.js';
import { ServiceText } from '../../../shared/ui/service-text.js';
import { usePageTitle } from '../../../shared/ui/use-page-title.js';
import { createFirstAccount, logIn, recoverAccount, setUpAccount, useLoginView } from '../api/login-requests.js';
import { failureText } from '../failure-text.js';
import { readLink } from '../read-link.js';
import { PasskeyLogin } from './passkey-login.js';
import { PasswordForm } from './password-form.js';

interface Props {
  readonly onLogin: () => void;
  /** The language and the theme. */
  readonly settings: ReactNode;
}

/** Where users log in: with a provider, with a password, or with a link that was sent to them. */
export function LoginPage({ onLogin, settings }: Props) {
  usePageTitle(t`Log in`);
  const [link, setLink] = useState(() => readLink(location.hash));
  // A link that is opened in a tab with this page changes the address only.
  useEffect(() => {
    const read = (): void => setLink(readLink(location.hash));
    window.addEventListener('hashchange', read);
    return () => window.removeEventListener('hashchange', read);
  }, []);
  const [isRecovering, setIsRecovering] = useState(false);
  const { data: view, error, refetch } = useLoginView();
  const finish = (): void => {
    // A secret must not stay in the address.
    if (link.isLogin) history.replaceState(null, '', '#/vms');
    onLogin();
  };
  const failedAt = view?.providers.find(({ id }) => id === link.provider)?.name ?? link.provider;
  return (
    <main id="main" className="hg-login">
      <div className="hg-login-settings">{settings}</div>
      <h1>Headgate</h1>
      {error && <ErrorAlert title={t`Couldn't load the login page`} error={error} onRetry={() => void refetch()} />}
      {!view && !error && <Skeleton height="8rem" label={t`Loading the login page`} />}
      {view?.refusal !== undefined && (
        <Alert variant="warning" title={t`Logging in is not possible here`}>
          <ServiceText>{view.refusal}</ServiceText>
        </Alert>
      )}
      {/* The name of the provider is in the view: a screen reader would read the alert twice if it changed. */}
      {link.failure && (view || error) && (
        <div role="alert">
          <Alert variant="danger" title={t`Couldn't log in with ${failedAt}`}>
            {failureText(link.failure)}
          </Alert>
        </div>
      )}
      {view && view.refusal === undefined && link.first !== undefined && (
        <PasswordForm
          title={t`Create the first account`}
          note={t`It is an administrator. The link can be used once.`}
          label={t`Create account`}
          isNew
          onSubmit={({ login, password }) => createFirstAccount(link.first ?? '', login, password)}
          onDone={finish}
        />
      )}
      {view && view.refusal === undefined && link.setup !== undefined && (
        <PasswordForm
          title={t`Set your password`}
          login={link.login}
          label={t`Set password`}
          isNew
          onSubmit={({ login, password }) => setUpAccount(link.setup ?? '', login, password)}
          onDone={finish}
        />
      )}
      {view && view.refusal === undefined && link.first === undefined && link.setup === undefined && (
        <>
          {view.providers.map(({ id, name }) => (
            <a key={id} className="hg-button hg-button--secondary" href={startOf(id, link.page)}>
              {t`Log in with ${name}`}
            </a>
          ))}
          {view.first && (
            <Alert variant="info" title={t`There is no account yet`}>
              {t`Open the link that the service printed at its start.`}
            </Alert>
          )}
          {view.local && !view.first && !isRecovering && (
            <>
              {view.passkeys && <PasskeyLogin onDone={finish} />}
              <PasswordForm
                title={t`Log in with a password`}
                label={t`Log in`}
                onSubmit={({ login, password }) => logIn(login, password)}
                onDone={finish}
              />
              <Button variant="link" onClick={() => setIsRecovering(true)}>
                {t`Use a recovery code`}
              </Button>
            </>
          )}
          {isRecovering && (
            <>
              <PasswordForm
                title={t`Set a new password`}
                label={t`Set password`}
                isNew
                hasCode
                onSubmit={({ login, password, code }) => recoverAccount(code, login, password)}
                onDone={finish}
              />
              <Button variant="link" onClick={() => setIsRecovering(false)}>
                {t`Use a password`}
              </Button>
            </>
          )}
        </>
      )}
    </main>
  );
}

const startOf = (id: string, page: string): string =>
  `/api/ext/login/providers/${id}/start?${new URLSearchParams({ returnTo: page })}`;
