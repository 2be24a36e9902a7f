import { t } from '@lingui/core/macro';
import { useEffect, useRef, type FormEvent, type ReactNode } from 'react';
import { submitOnEnter } from '../ui/dialog.js';
import { Icon } from '../ui/icon.js';
import { usePanelForPlan } from '../ui/panel-queue.js';
import { SidePanel } from '../ui/side-panel.js';

interface PanelFrameProps {
  title: string;
  /** One line below the title. */
  description?: ReactNode;
  /** Marks an action that destroys something. */
  isDanger?: boolean;
  onClose: () => void;
  /** Called by Enter, and by a button of the type `submit`. */
  onSubmit: () => void;
  /** The buttons, which stay visible. */
  footer: ReactNode;
  children: ReactNode;
}

const FIRST_FOCUS = [
  '[data-autofocus]',
  '.hg-plan-body :is(input, select, textarea):not(:disabled)',
  '.hg-plan-foot button:not(:disabled)',
];

/**
 * The panel with a plan or its result. It takes the focus when it opens and returns it when it closes. The page next to
 * it stays usable.
 */
export function PanelFrame(props: PanelFrameProps) {
  const { title, description, isDanger = false, onClose, onSubmit, footer, children } = props;
  const form = useRef<HTMLFormElement>(null);
  usePanelForPlan();
  useEffect(() => {
    const before = document.activeElement;
    const target = FIRST_FOCUS.map((selector) => form.current?.querySelector<HTMLElement>(selector)).find(Boolean);
    target?.focus();
    return () => {
      // The user may be elsewhere by then.
      const { activeElement } = document;
      const isFree = activeElement === null || activeElement === document.body;
      if (isFree && before instanceof HTMLElement) before.focus();
    };
  }, []);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    // The panel may be a part of another form.
    event.stopPropagation();
    onSubmit();
  };
  return (
    <SidePanel label={title} onClose={onClose}>
      <form ref={form} className="hg-plan-panel" noValidate onSubmit={submit} onKeyDown={submitOnEnter}>
        <header className="hg-plan-head">
          <h2>
            {isDanger && <Icon name="alert" className="hg-status--warning" />}
            {title}
          </h2>
          <button
            type="button"
            className="hg-icon-button"
            aria-label={t`Close`}
            title={t`Close (Esc)`}
            onClick={onClose}
          >
            <Icon name="cross" />
          </button>
          {description !== undefined && <p className="hg-note">{description}</p>}
        </header>
        <div className="hg-plan-body">{children}</div>
        <footer className="hg-plan-foot">{footer}</footer>
      </form>
    </SidePanel>
  );
}
