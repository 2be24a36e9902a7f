import { Fragment, type ReactNode } from 'react';

/** Terms and their values. A value that does not exist has no line. */
export const PeekFacts = ({ facts }: { facts: Readonly<Record<string, ReactNode>> }) => (
  <dl className="hg-peek-facts">
    {Object.entries(facts)
      .filter(([, value]) => value !== undefined && value !== '')
      .map(([term, value]) => (
        <Fragment key={term}>
          <dt>{term}</dt>
          <dd>{value}</dd>
        </Fragment>
      ))}
  </dl>
);
