import { useEffectEvent, useId, useLayoutEffect, useRef, type ReactNode } from 'react';
import { Icon } from './icon.js';

interface DialogProps {
  title: string;
  /** One line below the title. */
  description?: string;
  /** Marks an action that destroys something. */
  isDanger?: boolean;
  size?: 'small' | 'medium';
  onClose: () => void;
  /** The buttons. */
  footer?: ReactNode;
  children?: ReactNode;
}

/**
 * A modal dialog: the browser's own `<dialog>`, which traps the focus, makes the rest of the page inert and shows above
 * a full-screen element. The focus starts at the element marked `data-autofocus`, or at the first control, and returns
 * to where it was when the dialog closes.
 */
export function Dialog({
  title,
  description,
  isDanger = false,
  size = 'small',
  onClose,
  footer,
  children,
}: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  const close = useEffectEvent(() => onClose());

  useLayoutEffect(() => {
    const element = dialog.current;
    if (!element) return undefined;
    // Escape. The owner decides when the dialog goes away, so the browser must not close it.
    const onCancel = (event: Event): void => {
      if (event.target !== element) return;
      event.preventDefault();
      close();
    };
    element.addEventListener('cancel', onCancel);
    element.showModal();
    element.querySelector<HTMLElement>('[data-autofocus]')?.focus();
    return () => {
      element.removeEventListener('cancel', onCancel);
      element.close();
    };
  }, []);

  return (
    <dialog ref={dialog} className={`hg-dialog hg-dialog--${size}`} aria-labelledby={titleId}>
      <div className="hg-dialog-box">
        <header className="hg-dialog-head">
          <h2 id={titleId}>
            {isDanger && <Icon name="alert" className="hg-status--warning" />}
            {title}
          </h2>
          {description !== undefined && <p className="hg-note">{description}</p>}
        </header>
        {children !== undefined && <div className="hg-dialog-body">{children}</div>}
        {footer !== undefined && <footer className="hg-dialog-foot">{footer}</footer>}
        <button type="button" className="hg-icon-button hg-dialog-close" aria-label="Close" onClick={onClose}>
          <Icon name="cross" />
        </button>
      </div>
    </dialog>
  );
}
