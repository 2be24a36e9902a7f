import { useId, useState, type FocusEvent, type PointerEvent } from 'react';
import { Button, type ButtonProps } from './button.js';

/**
 * A button that explains why it is unavailable: it stays in the tab order, the reason is its description, and a tooltip
 * shows the reason on hover and focus.
 */
export function ReasonedButton({ reason, children, ...props }: ButtonProps & { reason?: string | undefined }) {
  const id = useId();
  const [alignsToEnd, setAlignsToEnd] = useState(false);
  if (reason === undefined) return <Button {...props}>{children}</Button>;
  // A tooltip in the right half of the window opens to the left, where there is room.
  const align = ({ currentTarget }: PointerEvent | FocusEvent): void =>
    setAlignsToEnd(currentTarget.getBoundingClientRect().left > window.innerWidth / 2);
  return (
    <span className="hg-reasoned" onPointerEnter={align} onFocus={align}>
      <Button {...props} isDisabled={false} onClick={undefined} aria-disabled aria-describedby={id}>
        {children}
      </Button>
      <span id={id} role="tooltip" className="hg-tooltip" data-align={alignsToEnd ? 'end' : 'start'}>
        {reason}
      </span>
    </span>
  );
}
