import { t } from '@lingui/core/macro';
import { useMutation } from '@tanstack/react-query';
import type { VmView } from '@headgate/api-contracts';
import { useState } from 'react';
import { messageOf } from '../../../shared/api/api-error.js';
import { Button } from '../../../shared/ui/button.js';
import { Field } from '../../../shared/ui/field.js';
import { TextInput } from '../../../shared/ui/inputs.js';
import { useNotify } from '../../../shared/ui/notifications.js';
import { runGuestCommand, setGuestPassword } from '../api/guest-requests.js';

/** Passwords and programs in a running guest, for administrators. */
export function GuestControl({ vm, reason }: { vm: VmView; reason: string | undefined }) {
  if (reason !== undefined) {
    return (
      <section className="hg-card" aria-label={t`Guest actions`}>
        <h2>{t`Guest actions`}</h2>
        <p className="hg-note">{reason}</p>
      </section>
    );
  }
  return (
    <>
      <PasswordForm vm={vm} />
      <CommandForm vm={vm} />
    </>
  );
}

function PasswordForm({ vm }: { vm: VmView }) {
  const [user, setUser] = useState('');
  const [password, setPassword] = useState('');
  const notify = useNotify();
  const { mutate, isPending } = useMutation({
    mutationFn: () => setGuestPassword({ ref: vm.ref, user, password }),
    onSuccess: () => {
      setPassword('');
      notify({ variant: 'success', title: t`The password of ${user} was set` });
    },
    onError: (error) => notify({ variant: 'danger', title: t`Couldn't set the password`, body: messageOf(error) }),
  });
  return (
    <section className="hg-card" aria-label={t`Set password`}>
      <h2>{t`Set password`}</h2>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          mutate();
        }}
      >
        <Field label={t`Account`} id="guest-account">
          <TextInput id="guest-account" autoComplete="off" value={user} onChange={setUser} />
        </Field>
        <Field label={t`New password`} id="guest-password">
          <TextInput
            id="guest-password"
            type="password"
            autoComplete="new-password"
            value={password}
            onChange={setPassword}
          />
        </Field>
        <Button type="submit" variant="secondary" isSmall isDisabled={!user || !password} isLoading={isPending}>
          {t`Set password`}
        </Button>
      </form>
    </section>
  );
}

function CommandForm({ vm }: { vm: VmView }) {
  const [line, setLine] = useState('');
  const notify = useNotify();
  const { mutate, isPending, data } = useMutation({
    mutationFn: () => {
      const [path = '', ...args] = line.trim().split(/\s+/);
      return runGuestCommand({ ref: vm.ref, path, args });
    },
    onError: (error) => notify({ variant: 'danger', title: t`Couldn't run the program`, body: messageOf(error) }),
  });
  return (
    <section className="hg-card" aria-label={t`Run program`}>
      <h2>{t`Run program`}</h2>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          mutate();
        }}
      >
        <Field
          label={t`Program and arguments`}
          id="guest-command"
          hint={t`Separated by spaces; no shell interprets them.`}
        >
          <TextInput id="guest-command" autoComplete="off" spellCheck={false} value={line} onChange={setLine} />
        </Field>
        <Button type="submit" variant="secondary" isSmall isDisabled={line.trim() === ''} isLoading={isPending}>
          {t`Run`}
        </Button>
      </form>
      {data && (
        <>
          <p className="hg-note" role="status">
            {data.exitCode === null ? t`It was ended` : t`Exit code ${data.exitCode}`}
            {data.isTruncated && t`, the output is cut`}
          </p>
          <pre aria-label={t`Output`}>{`${data.stdout}${data.stderr}`}</pre>
        </>
      )}
    </section>
  );
}
