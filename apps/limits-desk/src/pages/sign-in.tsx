import { useEffect, useState } from 'react';
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

const operatorOf = async (token: string): Promise<string> =>
  (await new Client(token).get<{ operator: string }>('/operator')).operator;

const isRefusal = (failure: unknown): boolean => failure instanceof ApiError && failure.status === 401;

/** Asks for the token, unless the listener has none or the tab knows it. */
export function SignIn({ token, notice, onSignedIn, onRefused }: SignInProps) {
  const [typed, setTyped] = useState('');
  const [error, setError] = useState<string>();
  const [isAsked, setAsked] = useState(false);
  // A listener without a token accepts the empty one.
  useEffect(() => {
    operatorOf(token).then(
      (operator) => onSignedIn(token, operator),
      (failure: unknown) => {
        if (isRefusal(failure)) onRefused();
        else setError(sentenceOf(failure));
        setAsked(true);
      },
    );
  }, [token, onSignedIn, onRefused]);
  const submit = () =>
    operatorOf(typed).then(
      (operator) => onSignedIn(typed, operator),
      (failure: unknown) =>
        setError(isRefusal(failure) ? 'The listener does not accept this token.' : sentenceOf(failure)),
    );
  if (!isAsked) return null;
  return (
    <main className="desk-sign-in">
      <form
        className="desk-card"
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
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
