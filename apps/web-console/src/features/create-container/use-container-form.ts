import type { Created } from '../../shared/creation/create-instance.js';
import { identityProblems, onlyProblems } from '../../shared/creation/form-problems.js';
import { useCreationForm } from '../../shared/creation/use-creation-form.js';
import { useCreationTargets } from '../../shared/creation/use-creation-targets.js';
import {
  CONTAINER_FIELDS,
  containerProblems,
  containerRequest,
  EMPTY_CONTAINER,
  type ContainerField,
  type ContainerForm,
} from './container-form.js';

/** The form that creates a container. */
export function useContainerForm(onCreated: (created: Created, form: ContainerForm) => void) {
  const targets = useCreationTargets('containers');
  const creation = useCreationForm<ContainerForm, ContainerField>(
    {
      collection: 'cts',
      empty: EMPTY_CONTAINER,
      fields: CONTAINER_FIELDS,
      complete: (edited) => ({ ...edited, context: targets.contextNamed(edited.context)?.context ?? '' }),
      // A VM and a container may have the same name.
      problems: (form) => ({
        ...onlyProblems(identityProblems(form, { ...targets, entries: [] })),
        ...containerProblems(form),
      }),
      request: containerRequest,
    },
    onCreated,
  );
  return { creation, targets };
}
