import { useId, type ReactNode } from 'react';

interface CreationSectionProps {
  /** The target of the link to it, without a space. */
  id: string;
  title: string;
  /** Next to the title. */
  actions?: ReactNode;
  children: ReactNode;
}

/** A part of the form that creates an instance. */
export function CreationSection({ id, title, actions, children }: CreationSectionProps) {
  const heading = useId();
  return (
    <section id={`create-${id}`} className="hg-create-section" aria-labelledby={heading}>
      <header>
        <h2 id={heading}>{title}</h2>
        {actions}
      </header>
      {children}
    </section>
  );
}
