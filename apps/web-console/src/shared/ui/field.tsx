import type { ReactNode } from 'react';

interface FieldProps {
  label: string;
  id: string;
  required?: boolean;
  /** The problem with its value, shown instead of the hint. */
  problem?: string | undefined;
  hint?: ReactNode;
  children: ReactNode;
}

/** A labeled field with its hint or its problem. The input itself carries `id` and `aria-describedby={helpId(id)}`. */
export function Field({ label, id, required = false, problem, hint, children }: FieldProps) {
  return (
    <div className="hg-field">
      <label htmlFor={id}>
        {label}
        {required && (
          <span className="hg-required" aria-hidden="true">
            {' '}
            *
          </span>
        )}
      </label>
      {children}
      {(problem ?? hint) && (
        <p
          id={helpId(id)}
          className={problem === undefined ? 'hg-note' : 'hg-status--danger'}
          aria-live={problem === undefined ? undefined : 'polite'}
        >
          {problem ?? hint}
        </p>
      )}
    </div>
  );
}

export const helpId = (id: string): string => `${id}-help`;
