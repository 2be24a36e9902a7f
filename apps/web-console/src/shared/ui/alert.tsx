import { t } from '@lingui/core/macro';
import type { ReactNode } from 'react';
import type { IconName } from '../../icons.js';
import { Icon } from './icon.js';
import { perLanguage } from '../texts/per-language.js';

export type AlertVariant = 'success' | 'info' | 'warning' | 'danger';

const variants = perLanguage((): Readonly<Record<AlertVariant, { icon: IconName; label: string }>> => ({
  success: { icon: 'check', label: t`Success` },
  info: { icon: 'info', label: t`Information` },
  warning: { icon: 'alert', label: t`Warning` },
  danger: { icon: 'error', label: t`Error` },
}));

interface AlertProps {
  variant: AlertVariant;
  title: string;
  /** Whether the title is a sentence of the service. */
  isServiceText?: boolean;
  /** Without a box around it. */
  isPlain?: boolean;
  className?: string | undefined;
  /** What the user can do about it. */
  actions?: ReactNode;
  onDismiss?: () => void;
  children?: ReactNode;
}

/** A message with an icon that shows how serious it is; a screen reader reads the severity before the title. */
export function Alert({ variant, title, isPlain = false, className, ...rest }: AlertProps) {
  const { isServiceText = false, actions, onDismiss, children } = rest;
  const { icon, label } = variants()[variant];
  const classes = ['hg-alert', `hg-alert--${variant}`, isPlain && 'hg-alert--plain', className];
  return (
    <div className={classes.filter(Boolean).join(' ')}>
      <Icon name={icon} />
      <p className="hg-alert-title">
        <span className="hg-hidden">{label}: </span>
        <span lang={isServiceText ? 'en' : undefined}>{title}</span>
      </p>
      {children !== undefined && children !== null && <div className="hg-alert-body">{children}</div>}
      {actions && <div className="hg-alert-actions">{actions}</div>}
      {onDismiss && (
        <button
          type="button"
          className="hg-icon-button"
          aria-label={t`Dismiss: ${title}`}
          title={t`Dismiss`}
          onClick={onDismiss}
        >
          <Icon name="cross" />
        </button>
      )}
    </div>
  );
}
