import type { ReactNode } from 'react';

interface SectionProps {
  title: string;
  children: ReactNode;
}

/** Components that belong together. */
export const Section = ({ title, children }: SectionProps) => (
  <section className="demo-section" aria-label={title}>
    <h2>{title}</h2>
    {children}
  </section>
);

interface StateProps {
  /** The component and its state, such as "Button, off". */
  name: string;
  children: ReactNode;
}

/** One component in one state. */
export const State = ({ name, children }: StateProps) => (
  <div className="demo-state">
    <span className="hg-note">{name}</span>
    <div className="demo-example">{children}</div>
  </div>
);

/** For buttons that only show how they look. */
export const doNothing = (): void => undefined;
