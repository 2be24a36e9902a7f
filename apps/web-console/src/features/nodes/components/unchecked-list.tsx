import { t } from '@lingui/core/macro';
import { ServiceText } from '../../../shared/ui/service-text.js';

interface UncheckedListProps {
  /** Conditions that were checked for no instance. */
  all: readonly string[];
  /** Those that were not checked for some instances. */
  some: readonly string[];
  className?: string;
}

/** Conditions that the service could not check, in its own words. */
export function UncheckedList({ all, some, className }: UncheckedListProps) {
  return (
    <ul className={className}>
      {all.map((text) => (
        <li key={text} lang="en">
          {text}
        </li>
      ))}
      {some.length > 0 && (
        <li>
          {t`Of some instances:`} <ServiceText>{some.join('; ')}.</ServiceText>
        </li>
      )}
    </ul>
  );
}
