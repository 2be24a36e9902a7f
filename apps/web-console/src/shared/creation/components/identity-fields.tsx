import { FormSelect, FormSelectOption, Grid, GridItem } from '@patternfly/react-core';
import type { FieldErrors } from '../../api/field-errors.js';
import type { ContextAbilities } from '../../queries/use-capabilities.js';
import { MAX_NAME_LENGTH } from '../../names/name-rule.js';
import { describedBy, Field } from '../../ui/field.js';
import { TextField } from './text-field.js';

export interface Identity {
  readonly name: string;
  readonly namespace: string;
  readonly context: string;
}

interface IdentityFieldsProps {
  form: Identity;
  onChange: (change: Partial<Identity>) => void;
  problems: FieldErrors<keyof Identity>;
  /** Those that can be chosen. */
  contexts: readonly ContextAbilities[];
  /** Namespaces that have instances already. */
  namespaces: readonly string[];
}

/** How it is called and where it lives. */
export function IdentityFields({ form, onChange, problems, contexts, namespaces }: IdentityFieldsProps) {
  const cluster = contexts.find(({ context }) => context === form.context)?.backend === 'kubevirt';
  return (
    <Grid hasGutter sm={12} md={4}>
      <GridItem md={cluster && contexts.length > 1 ? 4 : 8}>
        <TextField
          id="name"
          label="Name"
          required
          value={form.name}
          onChange={(name) => onChange({ name })}
          problem={problems.name}
          hint={form.name === '' ? 'a-z, 0-9 and "-"' : `${form.name.length} of ${MAX_NAME_LENGTH}`}
        />
      </GridItem>
      {cluster && (
        <GridItem>
          <TextField
            id="namespace"
            label="Namespace"
            placeholder="tailvm"
            suggestions={namespaces}
            value={form.namespace}
            onChange={(namespace) => onChange({ namespace })}
            problem={problems.namespace}
          />
        </GridItem>
      )}
      {contexts.length > 1 && (
        <GridItem>
          <Field label="Context" id="context" problem={problems.context}>
            <FormSelect
              id="context"
              value={form.context}
              aria-describedby={describedBy('context')}
              onChange={(_event, context) => onChange({ context })}
            >
              {contexts.map(({ context, backend, up }) => (
                <FormSelectOption
                  key={context}
                  value={context}
                  isDisabled={!up}
                  label={`${context} (${backend}${up ? '' : ', not reachable'})`}
                />
              ))}
            </FormSelect>
          </Field>
        </GridItem>
      )}
    </Grid>
  );
}
