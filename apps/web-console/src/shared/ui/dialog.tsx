import { t } from '@lingui/core/macro';
import {
  useEffectEvent,
  useId,
  useLayoutEffect,
  useRef,
  type FormEvent,
  type KeyboardEvent,
  type ReactNode,
  type RefObject,
} from 'react';
import { Icon } from './icon.js';

interface DialogProps {
  title: string;
  /** One line below the title. */
  description?: string;
  /** Marks an action that destroys something. */
  isDanger?: boolean;
  size?: 'small' | 'medium';
  onClose: () => void;
  /** Confirms the dialog: called by Enter, and by a button of the type `submit`. */
  onSubmit: () => void;
  /** The buttons. */
  footer?: ReactNode;
  children?: ReactNode;
}

const FIRST_FOCUS = [
  '[data-autofocus]',
  '.hg-dialog-body :is(input, select, textarea):not(:disabled)',
  '.hg-dialog-foot button:not(:disabled)',
];

/**
 * A modal dialog: the browser's own `<dialog>`, which traps the focus, makes the rest of the page inert and shows above
 * a full-screen element. The focus starts at the element marked `data-autofocus`, the first field, or the first button,
 * and returns to where it was when the dialog closes.
 */
export function Dialog(props: DialogProps) {
  const { title, description, isDanger = false, size = 'small', onClose, onSubmit, footer, children } = props;
  const dialog = useModal(onClose);
  const titleId = useId();

  const submit = (event: FormEvent): void => {
    event.preventDefault();
    onSubmit();
  };

  return (
    <dialog ref={dialog} className={`hg-dialog hg-dialog--${size}`} aria-labelledby={titleId}>
      <form className="hg-dialog-box" noValidate onSubmit={submit} onKeyDown={submitOnEnter}>
        <div className="hg-dialog-head">
          <h2 id={titleId}>
            {isDanger && <Icon name="alert" className="hg-status--warning" />}
            {title}
          </h2>
          {description !== undefined && <p className="hg-note">{description}</p>}
        </div>
        {children !== undefined && <div className="hg-dialog-body">{children}</div>}
        {footer !== undefined && <div className="hg-dialog-foot">{footer}</div>}
        <button type="button" className="hg-icon-button hg-dialog-close" aria-label={t`Close`} onClick={onClose}>
          <Icon name="cross" />
        </button>
      </form>
    </dialog>
  );
}

/** @returns the ref of a `<dialog>` that is modal as long as it is rendered */
export function useModal(onClose: () => void): RefObject<HTMLDialogElement | null> {
  const dialog = useRef<HTMLDialogElement>(null);
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
    // Without this, the browser may focus the scrolling body instead of its first field.
    const target = FIRST_FOCUS.map((selector) => element.querySelector<HTMLElement>(selector)).find(Boolean);
    target?.focus();
    return () => {
      element.removeEventListener('cancel', onCancel);
      element.close();
    };
  }, []);
  return dialog;
}

const HANDLES_ENTER = 'button, a, input, select, textarea';

/** Enter confirms wherever the focus is. Controls handle the key themselves; inputs submit the form. */
export function submitOnEnter(event: KeyboardEvent<HTMLFormElement>): void {
  if (event.key !== 'Enter' || (event.target as Element).closest(HANDLES_ENTER)) return;
  event.preventDefault();
  const button = event.currentTarget.querySelector<HTMLButtonElement>('button[type="submit"]');
  if (button && !button.disabled) event.currentTarget.requestSubmit(button);
}
