import { t } from '@lingui/core/macro';
import type { InstanceNameView } from '@headgate/api-contracts';
import { Link } from 'wouter';
import { pathOfRef } from '../location/paths.js';
import { readableNumber } from '../texts/formats.js';

/** How many names a list has before it is cut. */
const MOST = 100;

interface InstanceLinksProps {
  /** The heading, such as "Used by". */
  title: string;
  users: readonly InstanceNameView[];
  /** The number of instances that the user may not see. */
  hidden: number;
  /** The text without any user. */
  none: string;
}

/** The instances that use something, as links to their pages. */
export function InstanceLinks({ title, users, hidden, none }: InstanceLinksProps) {
  const more = users.length - MOST;
  const count = users.length + hidden;
  return (
    <section className="hg-peek-activity" aria-label={title}>
      <h3>{t`${title} (${readableNumber(count)})`}</h3>
      {count === 0 && <p className="hg-note">{none}</p>}
      <ul>
        {users.slice(0, MOST).map(({ ref, name, namespace }) => (
          <li key={ref}>
            <Link href={pathOfRef(ref)} className="hg-quiet-link" translate="no">
              {name}
            </Link>
            <span className="hg-note" translate="no">
              {namespace}
            </span>
          </li>
        ))}
      </ul>
      {more > 0 && <p className="hg-note">{t`and ${readableNumber(more)} more`}</p>}
      {hidden > 0 && <p className="hg-note">{t`${readableNumber(hidden)} that you may not see`}</p>}
    </section>
  );
}
