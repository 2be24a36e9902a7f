import type { Created } from '../../shared/creation/create-instance.js';
import { identityProblems, onlyProblems } from '../../shared/creation/form-problems.js';
import { useCreationForm } from '../../shared/creation/use-creation-form.js';
import { useSurroundings } from '../../shared/creation/use-surroundings.js';
import {
  CONTAINER_FIELDS,
  containerProblems,
  containerRequest,
  EMPTY_CONTAINER,
  type ContainerField,
  type ContainerForm,
} from './container-form.js';

/** How a container is made. */
export function useContainerForm(onCreated: (created: Created, form: ContainerForm) => void) {
  const surroundings = useSurroundings('containers');
  const creation = useCreationForm<ContainerForm, ContainerField>(
    {
      collection: 'cts',
      empty: EMPTY_CONTAINER,
      fields: CONTAINER_FIELDS,
      complete: (edited) => ({ ...edited, context: surroundings.contextNamed(edited.context)?.context ?? '' }),
      // A VM may have the same name.
      problems: (form) => ({
        ...onlyProblems(identityProblems(form, { ...surroundings, entries: [] })),
        ...containerProblems(form),
      }),
      request: containerRequest,
    },
    onCreated,
  );
  return { creation, surroundings };
}
