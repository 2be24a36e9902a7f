import type { ButtonHTMLAttributes, ReactNode, Ref } from 'react';

export interface ButtonProps extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'disabled'> {
  /** `link` looks like a link in running text, `plain` has no border until it is hovered. */
  variant?: 'primary' | 'secondary' | 'danger' | 'link' | 'plain';
  isSmall?: boolean;
  icon?: ReactNode;
  isDisabled?: boolean;
  /** Shows a spinner. Says nothing about whether the button can be pressed. */
  isLoading?: boolean;
  ref?: Ref<HTMLButtonElement>;
}

/** A button. It submits a form only when `type` says so. */
export function Button({
  variant = 'primary',
  isSmall = false,
  icon,
  isDisabled = false,
  isLoading = false,
  className,
  children,
  ...rest
}: ButtonProps) {
  const classes = ['hg-button', `hg-button--${variant}`, isSmall && 'hg-button--small', className];
  return (
    <button
      type="button"
      disabled={isDisabled}
      aria-busy={isLoading || undefined}
      className={classes.filter(Boolean).join(' ')}
      {...rest}
    >
      {isLoading ? <span className="hg-spinner hg-spinner--inline" aria-hidden="true" /> : icon}
      {children}
    </button>
  );
}
