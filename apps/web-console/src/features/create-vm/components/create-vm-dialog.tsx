import { ExpandableSection, Switch, TextArea } from '@patternfly/react-core';
import { CreationDialog } from '../../../shared/creation/components/creation-dialog.js';
import { IdentityFields } from '../../../shared/creation/components/identity-fields.js';
import { SizeFields } from '../../../shared/creation/components/size-fields.js';
import type { Created } from '../../../shared/creation/create-instance.js';
import { describedBy, Field } from '../../../shared/ui/field.js';
import { useVmForm } from '../use-vm-form.js';
import type { VmForm } from '../vm-form.js';
import { CloudInitEditor } from './cloud-init-editor.js';
import { PlacementFields } from './placement-fields.js';
import { SourceFields } from './source-fields.js';
import { SourcePicker } from './source-picker.js';

interface CreateVmDialogProps {
  onClose: () => void;
  onCreated: (created: Created, form: VmForm) => void;
}

/** Makes a VM: one page, sensible from the start, nothing asked twice. */
export function CreateVmDialog({ onClose, onCreated }: CreateVmDialogProps) {
  const { creation, surroundings, context } = useVmForm(onCreated);
  const { form, change, problems } = creation;
  const fields = { form, onChange: change, problems };

  return (
    <CreationDialog
      title="Create VM"
      width="medium"
      creation={creation}
      onClose={onClose}
      extra={
        <Switch
          id="start"
          label="Start it once its disk is there"
          isChecked={form.start}
          onChange={(_event, start) => change({ start })}
        />
      }
    >
      <IdentityFields
        {...fields}
        {...surroundings}
        // What was chosen of one context means nothing in another.
        onChange={(part) => change('context' in part ? { ...part, node: '', instancetype: '', preference: '' } : part)}
      />
      <SourcePicker context={context} chosen={form.source} onChange={(source) => change({ source })} />
      <SourceFields {...fields} />
      <SizeFields
        {...fields}
        decided={{
          compute: form.instancetype === '' ? undefined : `As ${form.instancetype} says`,
          disk: form.source === 'pvc' ? 'As the volume is' : undefined,
        }}
      />
      {form.source === 'bootc' && (
        <Field label="SSH key" id="sshKey" problem={problems.sshKey} hint="Optional; baked into the disk">
          <TextArea
            id="sshKey"
            rows={2}
            value={form.sshKey}
            aria-describedby={describedBy('sshKey')}
            onChange={(_event, sshKey) => change({ sshKey })}
          />
        </Field>
      )}
      <ExpandableSection toggleText="First boot: host name, password, SSH keys" displaySize="default" isIndented>
        <CloudInitEditor
          value={form.cloudInit}
          onChange={(cloudInit) => change({ cloudInit })}
          problem={problems.cloudInit}
        />
      </ExpandableSection>
      {context?.backend === 'kubevirt' && (
        <ExpandableSection toggleText="Instance type, preference, node" displaySize="default" isIndented>
          <PlacementFields {...fields} context={context} />
        </ExpandableSection>
      )}
    </CreationDialog>
  );
}
