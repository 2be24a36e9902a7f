import { t, plural } from '@lingui/core/macro';
import { Link } from 'wouter';
import { Icon } from '../../../shared/ui/icon.js';
import { usePageCounts, type CountedPage } from '../use-page-counts.js';
import { usePages } from '../use-pages.js';
import { readableNumber } from '../../../shared/texts/formats.js';

/** The pages that the user can open, with the number of their entries, or of problems. */
export function PageLinks({ isFolded }: { isFolded: boolean }) {
  const pages = usePages();
  const counts = usePageCounts();
  return (
    <nav aria-label={t`Pages`} className="hg-side-links">
      {pages.map(({ name, href, label, icon, isCurrent }) => {
        const count = counts[name as CountedPage];
        const hasProblems = name === 'health' && count !== undefined && count > 0;
        return (
          <Link
            key={href}
            href={href}
            className="hg-side-link"
            aria-current={isCurrent ? 'page' : undefined}
            title={isFolded ? label : undefined}
          >
            <Icon name={icon} />
            <span className="hg-side-label">{label}</span>
            {count !== undefined && (name !== 'health' || hasProblems) && (
              <span className={`hg-side-count${hasProblems ? ' hg-side-count--bad' : ''}`}>
                {' '}
                {readableNumber(count)}
                {hasProblems && (
                  <span className="hg-hidden"> {plural(count, { one: 'problem', other: 'problems' })}</span>
                )}
              </span>
            )}
          </Link>
        );
      })}
    </nav>
  );
}
