import { useEffect, useRef, type ReactNode } from 'react';
import { PlanView } from '../../plans/plan-view.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { ErrorAlert } from '../../ui/error-alert.js';
import type { CreationForm } from '../use-creation-form.js';

interface CreationDialogProps<F extends object, Field extends string> {
  title: string;
  creation: CreationForm<F, Field>;
  onClose: () => void;
  /** Shown next to the buttons. */
  extra?: ReactNode;
  children: ReactNode;
}

/** The frame of every form that creates an instance: preview, errors, and the restored draft. */
export function CreationDialog<F extends object, Field extends string>(props: CreationDialogProps<F, Field>) {
  const { title, creation, onClose, extra, children } = props;
  const { problems, error, plan, busy, creating, submit, preview, restored, startOver } = creation;
  const body = useRef<HTMLDivElement>(null);
  const attempts = useRef(0);
  const handledAttempts = useRef(0);
  // After a failed attempt, the first invalid field gets the focus, or the error message is scrolled into view.
  useEffect(() => {
    if (busy || handledAttempts.current === attempts.current) return;
    handledAttempts.current = attempts.current;
    const invalid = body.current?.querySelector<HTMLElement>('[aria-invalid="true"]');
    if (invalid) invalid.focus();
    else body.current?.querySelector('[role="alert"]')?.scrollIntoView({ block: 'nearest' });
  }, [busy, problems]);
  const attempt = (run: () => void) => (): void => {
    attempts.current++;
    run();
  };

  return (
    <Dialog
      title={title}
      size="medium"
      onClose={onClose}
      onSubmit={attempt(submit)}
      footer={
        <>
          <Button type="submit" isLoading={creating} isDisabled={busy}>
            Create
          </Button>
          <Button variant="secondary" onClick={attempt(preview)} isDisabled={busy}>
            Preview
          </Button>
          <Button variant="link" onClick={onClose}>
            Cancel
          </Button>
          {extra && <span className="hg-spring" />}
          {extra}
        </>
      }
    >
      <div ref={body} className="hg-form">
        {restored && (
          <p className="hg-note">
            Your unsaved changes were restored.{' '}
            <Button variant="link" onClick={startOver}>
              Start over
            </Button>
          </p>
        )}
        {children}
        {error && <ErrorAlert title="The service refused the request" error={error} />}
        {plan && <PlanView plan={plan} title="Preview" />}
      </div>
    </Dialog>
  );
}
