import type { Created } from '../../shared/creation/create-instance.js';
import { identityProblems, onlyProblems } from '../../shared/creation/form-problems.js';
import { useCreationForm } from '../../shared/creation/use-creation-form.js';
import { useSurroundings } from '../../shared/creation/use-surroundings.js';
import { useImages } from './api/use-images.js';
import { SOURCES, sourceLack } from './sources.js';
import {
  changeVm,
  EMPTY_VM,
  TINY_IMAGE,
  VM_FIELDS,
  vmProblems,
  vmRequest,
  type VmField,
  type VmForm,
} from './vm-form.js';

/** How a VM is made: what nobody chose follows from what the service offers. */
export function useVmForm(onCreated: (created: Created, form: VmForm) => void) {
  const surroundings = useSurroundings('provisioning');
  const { data: images = [] } = useImages();

  const complete = (edited: VmForm): VmForm => {
    const context = surroundings.contextNamed(edited.context);
    const source = sourceLack(context, edited.source) ? SOURCES.find((one) => !sourceLack(context, one)) : undefined;
    const image = edited.image || (images.find(({ name }) => name === TINY_IMAGE) ?? images[0])?.name || '';
    return changeVm({ ...edited, context: context?.context ?? '' }, { image, ...(source ? { source } : {}) });
  };
  const creation = useCreationForm<VmForm, VmField>(
    {
      collection: 'vms',
      empty: EMPTY_VM,
      fields: VM_FIELDS,
      change: changeVm,
      complete,
      problems: (form) => ({ ...onlyProblems(identityProblems(form, surroundings)), ...vmProblems(form) }),
      request: vmRequest,
    },
    onCreated,
  );
  return { creation, surroundings, context: surroundings.contextNamed(creation.form.context) };
}
