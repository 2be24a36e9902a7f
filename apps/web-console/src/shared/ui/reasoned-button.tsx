import { Button, Tooltip, type ButtonProps } from '@patternfly/react-core';
import { useId } from 'react';

/** A button that says why it can't be pressed: it stays in the tab order, and the reason is its description. */
export function ReasonedButton({ reason, children, ...props }: ButtonProps & { reason?: string | undefined }) {
  const id = useId();
  if (reason === undefined) return <Button {...props}>{children}</Button>;
  return (
    <Tooltip content={reason} aria="none">
      <Button {...props} isAriaDisabled aria-describedby={id}>
        {children}
        <span id={id} className="hg-hidden">
          {reason}
        </span>
      </Button>
    </Tooltip>
  );
}
