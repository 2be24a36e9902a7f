import { CreationDialog } from '../../../shared/creation/components/creation-dialog.js';
import { IdentityFields } from '../../../shared/creation/components/identity-fields.js';
import { SizeFields } from '../../../shared/creation/components/size-fields.js';
import { TextField } from '../../../shared/creation/components/text-field.js';
import type { Created } from '../../../shared/creation/create-instance.js';
import { useCapabilities } from '../../../shared/queries/use-capabilities.js';
import { Switch } from '../../../shared/ui/inputs.js';
import type { ContainerForm } from '../container-form.js';
import { useContainerForm } from '../use-container-form.js';

interface CreateContainerDialogProps {
  onClose: () => void;
  onCreated: (created: Created, form: ContainerForm) => void;
}

/** Creates a container. Only the name and the image are required. */
export function CreateContainerDialog({ onClose, onCreated }: CreateContainerDialogProps) {
  const { creation, targets } = useContainerForm(onCreated);
  const { data: capabilities } = useCapabilities();
  const { form, change, problems } = creation;
  const fields = { form, onChange: change, problems };

  return (
    <CreationDialog title="Create container" creation={creation} onClose={onClose}>
      <IdentityFields {...fields} {...targets} />
      <TextField
        id="image"
        label="Image"
        required
        placeholder="registry.example.org/tools/debian:12"
        value={form.image}
        onChange={(image) => change({ image })}
        problem={problems.image}
      />
      <SizeFields {...fields} diskLabel="Data volume" diskHint="Kept while the container is stopped" />
      <TextField
        id="storageClass"
        label="Storage class"
        placeholder={capabilities?.storageClass ?? ''}
        value={form.storageClass}
        onChange={(storageClass) => change({ storageClass })}
        problem={problems.storageClass}
        hint="Leave empty for the default of the cluster"
      />
      <Switch
        id="privileged"
        label="Privileged, with a persistent root file system"
        isChecked={form.privileged}
        onChange={(privileged) => change({ privileged })}
      />
    </CreationDialog>
  );
}
