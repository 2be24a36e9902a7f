import { t } from '@lingui/core/macro';
import { useId, type ReactNode } from 'react';
import { Icon } from '../../../shared/ui/icon.js';
import { perLanguage } from '../../../shared/texts/per-language.js';

interface ProblemCardProps {
  severity: 'error' | 'warning';
  title: ReactNode;
  /** What can be done, at the end of the line of the title. */
  actions?: ReactNode;
  /** What it means. */
  children: ReactNode;
  /** Where, since when and for whom, in the last line. */
  facts: ReactNode;
}

const severities = perLanguage(
  () =>
    ({
      error: { icon: 'diamond', tone: 'danger', word: t`Error` },
      warning: { icon: 'triangle', tone: 'warning', word: t`Warning` },
    }) as const,
);

/** A problem, with its meaning and a way out. */
export function ProblemCard({ severity, title, actions, children, facts }: ProblemCardProps) {
  const id = useId();
  const { icon, tone, word } = severities()[severity];
  return (
    <li className="hg-card hg-problem" aria-labelledby={id}>
      <span className={`hg-status hg-status--${tone}`}>
        <Icon name={icon} />
        <span className="hg-hidden">{`${word}: `}</span>
      </span>
      <h3 id={id}>{title}</h3>
      {actions !== undefined && <div className="hg-problem-actions">{actions}</div>}
      <div className="hg-problem-text">{children}</div>
      <p className="hg-note">{facts}</p>
    </li>
  );
}
