import type { ReactNode } from 'react';
import { Facts } from '../../../shared/ui/facts.js';

interface FactCardProps {
  title: string;
  /** Terms and values. Those that are undefined have no line. */
  facts: Readonly<Record<string, ReactNode>>;
  /** Next to the title, such as a link. */
  aside?: ReactNode;
  children?: ReactNode;
}

/** A card of terms and their values. */
export const FactCard = ({ title, facts, aside, children }: FactCardProps) => (
  <section className="hg-card" aria-label={title}>
    <div className="hg-card-head">
      <h2>{title}</h2>
      {aside}
    </div>
    <Facts className="hg-facts" facts={facts} />
    {children}
  </section>
);
