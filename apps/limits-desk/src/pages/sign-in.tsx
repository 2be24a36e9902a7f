import { useCallback, useEffect, useState } from 'react';
import { ApiError, Client, sentenceOf } from '../api/client.js';
import { Alert, Button, Field } from '../ui/parts.js';

interface SignInProps {
  /** A token of before the page was loaded again; empty without one. */
  readonly token: string;
  /** Why the operator has to sign in again. */
  readonly notice: string | undefined;
  onSignedIn(token: string, operator: string): void;
  onRefused(): void;
}

/** Asks for the token, unless the listener has none or the tab knows it. */
export function SignIn({ token, notice, onSignedIn, onRefused }: SignInProps) {
  const [typed, setTyped] = useState('');
  const [error, setError] = useState<string>();
  const [isAsked, setAsked] = useState(false);
  const tryToken = useCallback(
    async (candidate: string, isTyped: boolean) => {
      try {
        const { operator } = await new Client(candidate).get<{ operator: string }>('/operator');
        onSignedIn(candidate, operator);
      } catch (failure) {
        const isRefused = failure instanceof ApiError && failure.status === 401;
        if (isRefused) onRefused();
        if (!isRefused) setError(sentenceOf(failure));
        else if (isTyped) setError('The listener does not accept this token.');
        setAsked(true);
      }
    },
    [onSignedIn, onRefused],
  );
  // A listener without a token accepts the empty one.
  useEffect(() => void tryToken(token, false), [token, tryToken]);
  if (!isAsked) return null;
  return (
    <main className="desk-sign-in">
      <form
        className="desk-card"
        onSubmit={(event) => {
          event.preventDefault();
          void tryToken(typed, true);
        }}
      >
        <h1>Limits desk</h1>
        {notice !== undefined && <p role="status">{notice}</p>}
        <p className="desk-second">
          The token of the operator&apos;s listener, from operator.token of its configuration.
        </p>
        <Field label="Token">
          <input
            className="desk-input"
            type="password"
            autoComplete="off"
            value={typed}
            onChange={({ target }) => setTyped(target.value)}
          />
        </Field>
        {error !== undefined && <Alert>{error}</Alert>}
        <Button type="submit" kind="primary" off={typed === '' ? 'Type the token first.' : undefined}>
          Sign in
        </Button>
      </form>
    </main>
  );
}
