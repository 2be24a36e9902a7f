import type { CreateContainerDto } from '@headgate/api-contracts';
import { nameProblem } from '../../shared/names/name-rule.js';
import { quantityProblem } from '../../shared/quantity/quantity.js';

/** What the dialog holds: texts as they were typed, with the contract's defaults. */
export interface ContainerForm {
  readonly name: string;
  readonly image: string;
  readonly namespace: string;
  readonly context: string;
  readonly cpu: string;
  readonly mem: string;
  readonly disk: string;
  readonly privileged: boolean;
}

export const EMPTY_CONTAINER: ContainerForm = {
  name: '',
  image: '',
  namespace: '',
  context: '',
  cpu: '1',
  mem: '512Mi',
  disk: '5Gi',
  privileged: false,
};

type Problems = Partial<Record<keyof ContainerForm, string>>;

export function containerProblems(form: ContainerForm): Problems {
  const problems = {
    name: nameProblem(form.name),
    image: form.image.trim() === '' ? 'An image reference is needed.' : undefined,
    namespace: form.namespace === '' ? undefined : nameProblem(form.namespace),
    cpu: /^[1-9]\d{0,2}$/.test(form.cpu) ? undefined : 'A whole number from 1 to 512.',
    mem: quantityProblem(form.mem),
    disk: quantityProblem(form.disk),
  };
  return Object.fromEntries(Object.entries(problems).filter(([, problem]) => problem !== undefined)) as Problems;
}

export const containerRequest = (form: ContainerForm): CreateContainerDto => ({
  name: form.name,
  image: form.image.trim(),
  ...(form.namespace === '' ? {} : { namespace: form.namespace }),
  ...(form.context === '' ? {} : { context: form.context }),
  cpu: Number(form.cpu),
  mem: form.mem,
  disk: form.disk,
  privileged: form.privileged,
});
