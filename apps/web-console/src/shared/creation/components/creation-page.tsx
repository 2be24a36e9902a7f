import { t } from '@lingui/core/macro';
import { useEffect, useRef, type FocusEvent, type KeyboardEvent, type ReactNode } from 'react';
import { PAGE_FOCUS } from '../../location/use-page-focus.js';
import { Button } from '../../ui/button.js';
import { submitOnEnter } from '../../ui/dialog.js';
import { ReasonedButton } from '../../ui/reasoned-button.js';
import { usePageTitle } from '../../ui/use-page-title.js';
import { useCommandShortcut, useShortcut } from '../../ui/use-shortcut.js';
import { useCreateRefusal } from '../../fleet/use-create-refusal.js';
import type { CreationForm } from '../use-creation-form.js';
import { CreationReview } from './creation-review.js';
import { CreationSteps } from './creation-steps.js';
import { RequestAs } from './request-as.js';

interface CreationPageProps {
  title: string;
  creation: CreationForm<{ name: string }, string>;
  steps: Parameters<typeof CreationSteps>[0]['steps'];
  /** The namespace that the service chooses if the form has none. */
  namespace: string;
  /** A text of the form that nothing shows. */
  secret?: string | undefined;
  onClose: () => void;
  children: ReactNode;
}

/** Creates an instance: the form, and next to it the review of what the one button will do. */
export function CreationPage(props: CreationPageProps) {
  const { title, creation, steps, namespace, secret, onClose, children } = props;
  const { form, problems, plan, creating, submit, restored, startOver, leave, collection, body } = creation;
  usePageTitle(title);
  const refusal = useCreateRefusal();
  const root = useRef<HTMLFormElement>(null);
  const attempts = useRef(0);
  const handledAttempts = useRef(0);
  // After a failed attempt, the first invalid field gets the focus, or the error message is scrolled into view.
  useEffect(() => {
    if (creating || handledAttempts.current === attempts.current) return;
    handledAttempts.current = attempts.current;
    const invalid = root.current?.querySelector<HTMLElement>('[aria-invalid="true"]');
    if (invalid) invalid.focus();
    else root.current?.querySelector('[role="alert"]')?.scrollIntoView({ block: 'nearest' });
  }, [creating, problems]);
  const attempt = (): void => {
    if (creating || refusal !== undefined) return;
    attempts.current++;
    submit();
  };
  useShortcut('Escape', onClose);
  useCommandShortcut('enter', attempt);
  const onBlur = ({ target }: FocusEvent): void => {
    if (target.id !== '') leave(target.id);
  };
  const onKeyDown = (event: KeyboardEvent<HTMLFormElement>): void => {
    // Also while the user types: the draft is kept.
    if (event.key === 'Escape' && !event.defaultPrevented) {
      event.preventDefault();
      onClose();
    } else submitOnEnter(event);
  };
  const isRefused = (plan?.refusals.length ?? 0) > 0;

  return (
    <form
      ref={root}
      className="hg-create"
      aria-label={title}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        attempt();
      }}
      onKeyDown={onKeyDown}
      onBlur={onBlur}
    >
      <header className="hg-create-head">
        <h1 className="hg-page-title" {...PAGE_FOCUS}>
          {title}
        </h1>
        <span className="hg-note">
          {restored ? t`Your unsaved changes were restored.` : t`The draft is kept in this tab, without its secrets.`}
        </span>
        {restored && (
          <Button variant="link" onClick={startOver}>
            {t`Start over`}
          </Button>
        )}
        <span className="hg-spring" />
        <Button variant="secondary" onClick={onClose}>
          {t`Cancel`}
        </Button>
      </header>
      <div className="hg-create-columns">
        <CreationSteps steps={steps} />
        <div className="hg-create-form">{children}</div>
        <aside className="hg-create-side" aria-label={t`Review`}>
          <div className="hg-create-side-body">
            <CreationReview creation={creation}>
              <RequestAs {...{ collection, body, namespace, secret, origin: location.origin }} />
            </CreationReview>
          </div>
          <footer className="hg-create-foot">
            <ReasonedButton
              type="submit"
              isLoading={creating}
              isDisabled={creating}
              reason={refusal ?? (isRefused ? plan?.refusals[0]?.reason : undefined)}
            >
              {form.name === '' ? title : t`Create ${form.name}`}
            </ReasonedButton>
          </footer>
        </aside>
      </div>
    </form>
  );
}
