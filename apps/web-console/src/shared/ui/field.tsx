import { FormGroup, FormHelperText, HelperText, HelperTextItem } from '@patternfly/react-core';
import type { ReactNode } from 'react';

interface FieldProps {
  label: string;
  id: string;
  required?: boolean;
  /** What is wrong with it; shown in place of the hint. */
  problem?: string | undefined;
  hint?: ReactNode;
  children: ReactNode;
}

/** A labelled field with its hint or its problem. The input itself carries `id` and `aria-describedby={describedBy(id)}`. */
export function Field({ label, id, required = false, problem, hint, children }: FieldProps) {
  return (
    <FormGroup label={label} fieldId={id} isRequired={required}>
      {children}
      {(problem ?? hint) && (
        <FormHelperText>
          <HelperText id={describedBy(id)} isLiveRegion={problem !== undefined}>
            <HelperTextItem variant={problem ? 'error' : 'default'}>{problem ?? hint}</HelperTextItem>
          </HelperText>
        </FormHelperText>
      )}
    </FormGroup>
  );
}

export const describedBy = (id: string): string => `${id}-help`;
