import { Button, Form, Modal, ModalBody, ModalFooter, ModalHeader } from '@patternfly/react-core';
import { useEffect, useRef, type ReactNode } from 'react';
import { ErrorAlert } from '../../ui/error-alert.js';
import { PlanView } from '../../plans/plan-view.js';
import type { CreationForm } from '../use-creation-form.js';

interface CreationDialogProps<F extends object, Field extends string> {
  title: string;
  width: 'small' | 'medium';
  creation: CreationForm<F, Field>;
  onClose: () => void;
  /** Beside the buttons. */
  extra?: ReactNode;
  children: ReactNode;
}

/** Around every form that creates: preview, refusals, what would be done, and the way back to what was typed. */
export function CreationDialog<F extends object, Field extends string>(props: CreationDialogProps<F, Field>) {
  const { title, width, creation, onClose, extra, children } = props;
  const { problems, error, plan, busy, creating, submit, rehearse, resumed, startAnew } = creation;
  const body = useRef<HTMLDivElement>(null);
  const tries = useRef(0);
  const lookedAt = useRef(0);
  // Who presses Create is led to the first field that stands in the way.
  useEffect(() => {
    if (busy || lookedAt.current === tries.current) return;
    lookedAt.current = tries.current;
    body.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [busy, problems]);
  const after = (run: () => void) => (): void => {
    tries.current++;
    run();
  };

  return (
    <Modal isOpen variant={width} onClose={onClose} aria-labelledby="create-title" elementToFocus="#name">
      <ModalHeader title={title} labelId="create-title" />
      <ModalBody>
        <div ref={body}>
          <Form
            id="create-form"
            className="hg-form"
            onSubmit={(event) => {
              event.preventDefault();
              after(submit)();
            }}
          >
            {resumed && (
              <p className="hg-note">
                This is what you typed before.{' '}
                <Button variant="link" isInline onClick={startAnew}>
                  Start anew
                </Button>
              </p>
            )}
            {children}
            {error && <ErrorAlert title="This was refused" error={error} />}
            {plan && <PlanView plan={plan} title="What would be done" />}
          </Form>
        </div>
      </ModalBody>
      <ModalFooter>
        <Button type="submit" form="create-form" {...(creating ? { isLoading: true } : {})} isDisabled={busy}>
          Create
        </Button>
        <Button variant="secondary" onClick={after(rehearse)} isDisabled={busy}>
          Preview
        </Button>
        <Button variant="link" onClick={onClose}>
          Cancel
        </Button>
        {extra && <span className="hg-spring" />}
        {extra}
      </ModalFooter>
    </Modal>
  );
}
