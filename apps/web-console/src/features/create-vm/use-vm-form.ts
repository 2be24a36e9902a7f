import type { Created } from '../../shared/creation/create-instance.js';
import { identityProblems, onlyProblems } from '../../shared/creation/form-problems.js';
import { useCreationForm } from '../../shared/creation/use-creation-form.js';
import { useCreationTargets } from '../../shared/creation/use-creation-targets.js';
import { canUse, useImages } from './api/use-images.js';
import { useReadyImages } from './api/use-ready-images.js';
import { SOURCES, sourceUnavailableReason, type SourceKind } from './sources.js';
import {
  changeVm,
  EMPTY_VM,
  TINY_IMAGE,
  VM_FIELDS,
  vmProblems,
  vmRequest,
  withoutSecrets,
  type VmField,
  type VmForm,
} from './vm-form.js';

/** The form that creates a VM. Its defaults depend on the capabilities and the catalog. */
export function useVmForm(onCreated: (created: Created, form: VmForm) => void) {
  const targets = useCreationTargets('provisioning');
  const { data: images = [] } = useImages();
  const readyImages = useReadyImages();

  const complete = (edited: VmForm): VmForm => {
    const context = targets.contextNamed(edited.context);
    const placed = { ...edited, context: context?.context ?? '' };
    const imported = readyImages(placed);
    const reasonOf = (source: SourceKind) => sourceUnavailableReason(context, source, imported.length > 0);
    const source = reasonOf(edited.source) ? SOURCES.find((one) => !reasonOf(one)) : undefined;
    const usable = images.filter((image) => canUse(context, image));
    const preselected = usable.find(({ name }) => name === TINY_IMAGE) ?? usable[0] ?? imported[0];
    const isOffered = [...usable, ...imported].some(({ name }) => name === edited.image);
    const image = isOffered ? edited.image : (preselected?.name ?? '');
    return changeVm(placed, { image, ...(source ? { source } : {}) });
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
      withoutSecrets,
    },
    onCreated,
  );
  return {
    creation,
    targets,
    context: targets.contextNamed(creation.form.context),
    hasImportedImages: readyImages(creation.form).length > 0,
  };
}
