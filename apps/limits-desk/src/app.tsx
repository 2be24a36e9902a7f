import { useCallback, useEffect, useMemo, useState } from 'react';
import { Client } from './api/client.js';
import { ClientContext } from './api/context.js';
import { addressOf, hashOf, type PageName, PAGES } from './model/address.js';
import { JournalPage } from './pages/journal-page.js';
import { OverridesPage } from './pages/overrides-page.js';
import { ProposalPage } from './pages/proposal-page.js';
import { RefusalsPage } from './pages/refusals-page.js';
import { RulesPage } from './pages/rules-page.js';
import { SignIn } from './pages/sign-in.js';
import { WhyPage } from './pages/why-page.js';
import { forgetToken, keepToken, keptToken } from './model/kept-token.js';
import { Button } from './ui/parts.js';
import { isDark, toggleTheme } from './ui/theme.js';

interface Session {
  readonly token: string;
  readonly operator: string;
}

/** The operator's desk: the sign-in, and then one page at a time. */
export function App() {
  const [session, setSession] = useState<Session>();
  const [notice, setNotice] = useState<string>();
  const signOut = useCallback((reason?: string) => {
    forgetToken();
    setSession(undefined);
    setNotice(reason);
  }, []);
  const signIn = useCallback((token: string, operator: string) => {
    keepToken(token);
    setSession({ token, operator });
  }, []);
  if (!session) {
    return <SignIn token={keptToken()} notice={notice} onSignedIn={signIn} onRefused={forgetToken} />;
  }
  return <Desk session={session} onSignOut={signOut} />;
}

function Desk({ session, onSignOut }: { session: Session; onSignOut: (reason?: string) => void }) {
  const client = useMemo(
    () => new Client(session.token, () => onSignOut('The token is no longer accepted: it was replaced.')),
    [session.token, onSignOut],
  );
  const { page, subject } = useAddress();
  const [dark, setDark] = useState(isDark);
  useEffect(() => {
    document.title = `${PAGES[page]} · Limits desk`;
  }, [page]);
  return (
    <ClientContext value={client}>
      <a className="desk-hidden desk-skip" href="#main" onClick={focusPage}>
        Skip to the page
      </a>
      <div className="desk-shell">
        <header className="desk-header">
          <b>Limits desk</b>
          <span className="desk-spring" />
          <Button
            kind="plain"
            onClick={() => {
              toggleTheme();
              setDark(isDark());
            }}
          >
            {dark ? 'Light' : 'Dark'}
          </Button>
          <span className="desk-second">{session.operator}</span>
          {session.token !== '' && (
            <Button kind="plain" onClick={() => onSignOut()}>
              Sign out
            </Button>
          )}
        </header>
        <nav className="desk-pages" aria-label="Pages">
          <ul>
            {(Object.keys(PAGES) as PageName[]).map((name) => (
              <li key={name}>
                <a href={hashOf(name)} aria-current={name === page ? 'page' : undefined}>
                  {PAGES[name]}
                </a>
              </li>
            ))}
          </ul>
        </nav>
        {page === 'refusals' && <RefusalsPage />}
        {page === 'why' && <WhyPage key={subject} subject={subject} />}
        {page === 'overrides' && <OverridesPage />}
        {page === 'rules' && <RulesPage />}
        {page === 'proposal' && <ProposalPage />}
        {page === 'journal' && <JournalPage />}
      </div>
    </ClientContext>
  );
}

function focusPage(event: { preventDefault(): void }): void {
  event.preventDefault();
  document.querySelector<HTMLElement>('h1')?.focus();
}

function useAddress() {
  const [hash, setHash] = useState(() => location.hash);
  useEffect(() => {
    const onChange = () => setHash(location.hash);
    addEventListener('hashchange', onChange);
    return () => removeEventListener('hashchange', onChange);
  }, []);
  return useMemo(() => addressOf(hash), [hash]);
}
