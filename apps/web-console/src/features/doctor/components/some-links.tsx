import { t } from '@lingui/core/macro';
import { Link } from 'wouter';
import { pathOfRef } from '../../../shared/location/paths.js';
import { readableNumber } from '../../../shared/texts/formats.js';

/** How many names a card has. */
const MOST = 5;

interface SomeLinksProps {
  refs: readonly string[];
  /** The number of instances, of which not all may be known. */
  count: number;
}

const nameOf = (ref: string): string => decodeURIComponent(ref.split('/').at(-1) ?? ref);

/** The first instances by name, as links to their pages, and the number of the others. */
export function SomeLinks({ refs, count }: SomeLinksProps) {
  const shown = refs.slice(0, MOST);
  const more = count - shown.length;
  return (
    <>
      {shown.map((ref, position) => (
        <span key={ref}>
          {position > 0 && ', '}
          <Link href={pathOfRef(ref)} className="hg-quiet-link" translate="no">
            {nameOf(ref)}
          </Link>
        </span>
      ))}
      {more > 0 && t` and ${readableNumber(more)} more`}
    </>
  );
}
