import { FormSelect, FormSelectOption, Grid, GridItem, TextInput } from '@patternfly/react-core';
import type { ContextAbilities } from '../../../shared/queries/use-capabilities.js';
import { MAX_NAME_LENGTH } from '../../../shared/names/name-rule.js';
import { describedBy, Field } from '../../../shared/ui/field.js';
import type { CreateField, CreateForm } from '../create-form.js';

export interface FormPartProps {
  form: CreateForm;
  onChange: (change: Partial<CreateForm>) => void;
  problems: Partial<Record<CreateField, string>>;
}

/** How it is called and where it lives. */
export function IdentityFields({
  form,
  onChange,
  problems,
  contexts,
}: FormPartProps & { contexts: readonly ContextAbilities[] }) {
  const cluster = contexts.find(({ context }) => context === form.context)?.backend === 'kubevirt';
  return (
    <Grid hasGutter sm={12} md={4}>
      <GridItem md={cluster && contexts.length > 1 ? 4 : 8}>
        <Field
          label="Name"
          id="name"
          required
          problem={problems.name}
          hint={form.name === '' ? 'a-z, 0-9 and "-"' : `${form.name.length} of ${MAX_NAME_LENGTH}`}
        >
          <TextInput
            id="name"
            value={form.name}
            isRequired
            autoComplete="off"
            spellCheck={false}
            validated={problems.name ? 'error' : 'default'}
            aria-describedby={describedBy('name')}
            onChange={(_event, name) => onChange({ name })}
          />
        </Field>
      </GridItem>
      {cluster && (
        <GridItem>
          <Field label="Namespace" id="namespace" problem={problems.namespace}>
            <TextInput
              id="namespace"
              value={form.namespace}
              placeholder="tailvm"
              validated={problems.namespace ? 'error' : 'default'}
              aria-describedby={describedBy('namespace')}
              onChange={(_event, namespace) => onChange({ namespace })}
            />
          </Field>
        </GridItem>
      )}
      {contexts.length > 1 && (
        <GridItem>
          <Field label="Context" id="context" problem={problems.context}>
            <FormSelect
              id="context"
              value={form.context}
              aria-describedby={describedBy('context')}
              onChange={(_event, context) => onChange({ context, node: '', instancetype: '', preference: '' })}
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
