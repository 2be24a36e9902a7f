import { Fragment, type ReactNode } from 'react';

interface FactsProps {
  /** Terms and values. Those that are undefined, false or empty have no line. */
  facts: Readonly<Record<string, ReactNode>>;
  className: string;
}

/** Terms and their values. */
export const Facts = ({ facts, className }: FactsProps) => (
  <dl className={className}>
    {Object.entries(facts)
      .filter(([, value]) => value !== undefined && value !== false && value !== '')
      .map(([term, value]) => (
        <Fragment key={term}>
          <dt>{term}</dt>
          <dd>{value}</dd>
        </Fragment>
      ))}
  </dl>
);
