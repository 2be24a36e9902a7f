import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useSyncExternalStore, type ReactNode } from 'react';
import { LoginPage } from '../features/login/components/login-page.js';
import { LanguageMenu } from '../features/shell/components/language-menu.js';
import { ThemeSwitch } from '../features/shell/components/theme-switch.js';
import { loginRequired } from '../shared/api/login-required.js';
import { useIsStreamLive } from '../shared/queries/stream-queries.js';
import { TextsProvider } from '../shared/texts/texts-provider.js';

/** The console, or the login page while the service asks for a login. */
export function LoginGate({ children }: { children: ReactNode }) {
  const isRequired = useSyncExternalStore(loginRequired.subscribe, loginRequired.current);
  const queries = useQueryClient();
  const isLive = useIsStreamLive();
  const wasLive = useRef(false);
  // The stream ends with the session, but a browser does not say why it ended.
  useEffect(() => {
    if (wasLive.current && !isLive) void queries.invalidateQueries({ queryKey: ['whoami'] });
    wasLive.current = isLive;
  }, [isLive, queries]);
  if (!isRequired) return children;
  // Nothing of a former user stays in the page.
  const enter = (): void => {
    queries.clear();
    loginRequired.set(false);
  };
  return (
    <TextsProvider>
      <LoginPage
        onLogin={enter}
        settings={
          <>
            <LanguageMenu />
            <ThemeSwitch />
          </>
        }
      />
    </TextsProvider>
  );
}
