import { t } from '@lingui/core/macro';
import { CreationPage } from '../../../shared/creation/components/creation-page.js';
import { CreationSection } from '../../../shared/creation/components/creation-section.js';
import { FolderField } from '../../../shared/creation/components/folder-field.js';
import { IdentityFields } from '../../../shared/creation/components/identity-fields.js';
import { SizeFields } from '../../../shared/creation/components/size-fields.js';
import { TextField } from '../../../shared/creation/components/text-field.js';
import type { Created } from '../../../shared/creation/create-instance.js';
import { nameProblem } from '../../../shared/names/name-rule.js';
import { useCapabilities } from '../../../shared/queries/use-capabilities.js';
import { Switch } from '../../../shared/ui/inputs.js';
import { containerProblems, type ContainerForm } from '../container-form.js';
import { useContainerForm } from '../use-container-form.js';

interface CreateContainerPageProps {
  onClose: () => void;
  onCreated: (created: Created, form: ContainerForm) => void;
}

/** Creates a container. Only the name and the image are required. */
export function CreateContainerPage({ onClose, onCreated }: CreateContainerPageProps) {
  const { creation, targets } = useContainerForm(onCreated);
  const { data: capabilities } = useCapabilities();
  const { form, change, problems } = creation;
  const fields = { form, onChange: change, problems };

  return (
    <CreationPage
      title={t`Create container`}
      creation={creation}
      steps={sectionsOf(form)}
      namespace={form.namespace || (targets.contextNamed(form.context)?.namespaces.default ?? '')}
      onClose={onClose}
    >
      <CreationSection id="source" title={t`Where from`}>
        <TextField
          id="image"
          label={t`Image`}
          required
          placeholder="registry.example.org/tools/debian:12"
          value={form.image}
          onChange={(image) => change({ image })}
          problem={problems.image}
        />
        <Switch
          id="privileged"
          label={t`Privileged, with a persistent root file system`}
          isChecked={form.privileged}
          onChange={(privileged) => change({ privileged })}
        />
      </CreationSection>
      <CreationSection id="size" title={t`Size`}>
        <SizeFields {...fields} diskLabel={t`Data volume`} diskHint={t`Kept while the container is stopped`} />
      </CreationSection>
      <CreationSection id="place" title={t`Name and place`}>
        <IdentityFields {...fields} {...targets} />
        <TextField
          id="storageClass"
          label={t`Storage class`}
          placeholder={capabilities?.storageClass ?? ''}
          value={form.storageClass}
          onChange={(storageClass) => change({ storageClass })}
          problem={problems.storageClass}
          hint={t`Leave empty for the default of the cluster`}
        />
        <FolderField value={form.folder} onChange={(folder) => change({ folder })} problem={problems.folder} />
      </CreationSection>
    </CreationPage>
  );
}

/** The sections of the page, and whether each of them is done. */
function sectionsOf(form: ContainerForm) {
  const { image, cpu, mem, disk } = containerProblems(form);
  return [
    { id: 'source', title: t`Where from`, isDone: image === undefined },
    { id: 'size', title: t`Size`, isDone: [cpu, mem, disk].every((problem) => problem === undefined) },
    { id: 'place', title: t`Place`, isDone: nameProblem(form.name) === undefined },
  ];
}
