import { Switch } from '@patternfly/react-core';
import { CreationDialog } from '../../../shared/creation/components/creation-dialog.js';
import { IdentityFields } from '../../../shared/creation/components/identity-fields.js';
import { SizeFields } from '../../../shared/creation/components/size-fields.js';
import { TextField } from '../../../shared/creation/components/text-field.js';
import type { Created } from '../../../shared/creation/create-instance.js';
import { useCapabilities } from '../../../shared/queries/use-capabilities.js';
import type { ContainerForm } from '../container-form.js';
import { useContainerForm } from '../use-container-form.js';

interface CreateContainerDialogProps {
  onClose: () => void;
  onCreated: (created: Created, form: ContainerForm) => void;
}

/** Makes a container; only the name and the image must be said. */
export function CreateContainerDialog({ onClose, onCreated }: CreateContainerDialogProps) {
  const { creation, surroundings } = useContainerForm(onCreated);
  const { data: capabilities } = useCapabilities();
  const { form, change, problems } = creation;
  const fields = { form, onChange: change, problems };

  return (
    <CreationDialog title="Create container" width="medium" creation={creation} onClose={onClose}>
      <IdentityFields {...fields} {...surroundings} />
      <TextField
        id="image"
        label="Image"
        required
        placeholder="registry.example.org/tools/debian:12"
        value={form.image}
        onChange={(image) => change({ image })}
        problem={problems.image}
      />
      <SizeFields {...fields} diskLabel="Data volume" diskHint="It stays while the container is stopped" />
      <TextField
        id="storageClass"
        label="Storage class"
        placeholder={capabilities?.storageClass ?? ''}
        value={form.storageClass}
        onChange={(storageClass) => change({ storageClass })}
        problem={problems.storageClass}
        hint="Empty: the cluster's default"
      />
      <Switch
        id="privileged"
        label="Privileged, with a root file system that lasts"
        isChecked={form.privileged}
        onChange={(_event, privileged) => change({ privileged })}
      />
    </CreationDialog>
  );
}
