import { t } from '@lingui/core/macro';
import type { CreateContainerDto } from '@headgate/api-contracts';
import type { FieldErrors } from '../../shared/api/field-errors.js';
import type { Identity, Sizes } from '../../shared/creation/form-fields.js';
import { cpuProblem, onlyProblems } from '../../shared/creation/form-problems.js';
import { diskProblem, memoryProblem } from '../../shared/quantity/quantity.js';

/** The contents of the form, as the user typed them. */
export interface ContainerForm extends Identity, Sizes {
  readonly image: string;
  readonly storageClass: string;
  readonly privileged: boolean;
  readonly folder: string;
}

export type ContainerField = keyof CreateContainerDto;

export const CONTAINER_FIELDS: readonly ContainerField[] = [
  'name',
  'image',
  'namespace',
  'context',
  'cpu',
  'mem',
  'disk',
  'storageClass',
  'privileged',
  'folder',
];

export const EMPTY_CONTAINER: ContainerForm = {
  name: '',
  image: '',
  namespace: '',
  context: '',
  cpu: '1',
  mem: '512Mi',
  disk: '5Gi',
  storageClass: '',
  privileged: false,
  folder: '',
};

export const containerProblems = (form: ContainerForm): FieldErrors<ContainerField> =>
  onlyProblems<ContainerField>({
    image: form.image.trim() === '' ? t`Enter an image reference.` : undefined,
    cpu: cpuProblem(form.cpu),
    mem: memoryProblem(form.mem),
    disk: diskProblem(form.disk),
  });

/** The request: only the fields with a value, so that the service's defaults apply to the rest. */
export const containerRequest = (form: ContainerForm): CreateContainerDto => ({
  name: form.name,
  image: form.image.trim(),
  ...(form.namespace === '' ? {} : { namespace: form.namespace }),
  ...(form.context === '' ? {} : { context: form.context }),
  ...(form.storageClass.trim() === '' ? {} : { storageClass: form.storageClass.trim() }),
  ...(form.folder.trim() === '' ? {} : { folder: form.folder.trim() }),
  cpu: Number(form.cpu),
  mem: form.mem,
  disk: form.disk,
  privileged: form.privileged,
});
