import type { ReactNode } from 'react';
import type { IconName } from '../../icons.js';
import { PAGE_FOCUS } from '../location/use-page-focus.js';
import { Icon } from './icon.js';

interface EmptyStateProps {
  title: string;
  level: 1 | 2;
  icon?: IconName;
  /** The next step. */
  actions?: ReactNode;
  children?: ReactNode;
}

/** Shown in place of content that does not exist. */
export function EmptyState({ title, level, icon, actions, children }: EmptyStateProps) {
  const Heading = `h${level}` as const;
  return (
    <div className="hg-empty">
      {icon && <Icon name={icon} className="hg-big-icon" />}
      <Heading {...(level === 1 ? PAGE_FOCUS : {})}>{title}</Heading>
      {children && <div className="hg-empty-body">{children}</div>}
      {actions}
    </div>
  );
}
