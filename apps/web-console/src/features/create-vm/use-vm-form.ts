import type { Created } from '../../shared/creation/create-instance.js';
import { identityProblems, onlyProblems } from '../../shared/creation/form-problems.js';
import { useCreationForm } from '../../shared/creation/use-creation-form.js';
import { useCreationTargets } from '../../shared/creation/use-creation-targets.js';
import { useImages } from './api/use-images.js';
import { SOURCES, sourceUnavailableReason } from './sources.js';
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

/** The form that creates a VM. Its defaults depend on the capabilities and the catalog. */
export function useVmForm(onCreated: (created: Created, form: VmForm) => void) {
  const targets = useCreationTargets('provisioning');
  const { data: images = [] } = useImages();

  const complete = (edited: VmForm): VmForm => {
    const context = targets.contextNamed(edited.context);
    const source = sourceUnavailableReason(context, edited.source)
      ? SOURCES.find((one) => !sourceUnavailableReason(context, one))
      : undefined;
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
      problems: (form) => ({ ...onlyProblems(identityProblems(form, targets)), ...vmProblems(form) }),
      request: vmRequest,
    },
    onCreated,
  );
  return { creation, targets, context: targets.contextNamed(creation.form.context) };
}
