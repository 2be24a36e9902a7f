import { CreationDialog } from '../../../shared/creation/components/creation-dialog.js';
import { IdentityFields } from '../../../shared/creation/components/identity-fields.js';
import { SizeFields } from '../../../shared/creation/components/size-fields.js';
import type { Created } from '../../../shared/creation/create-instance.js';
import { Disclosure } from '../../../shared/ui/disclosure.js';
import { Field, helpId } from '../../../shared/ui/field.js';
import { Switch, TextArea } from '../../../shared/ui/inputs.js';
import { useVmForm } from '../use-vm-form.js';
import type { VmForm } from '../vm-form.js';
import { CloudInitEditor } from './cloud-init-editor.js';
import { PlacementFields, placementLabel } from './placement-fields.js';
import { PlatformFields } from './platform-fields.js';
import { SourceFields } from './source-fields.js';
import { SourcePicker } from './source-picker.js';

interface CreateVmDialogProps {
  onClose: () => void;
  onCreated: (created: Created, form: VmForm) => void;
}

/** Creates a VM: one page with useful defaults. */
export function CreateVmDialog({ onClose, onCreated }: CreateVmDialogProps) {
  const { creation, targets, context, hasImportedImages } = useVmForm(onCreated);
  const { form, change, problems } = creation;
  const fields = { form, onChange: change, problems };

  return (
    <CreationDialog
      title="Create VM"
      creation={creation}
      onClose={onClose}
      extra={
        <Switch
          id="start"
          label="Start when the disk is ready"
          isChecked={form.start}
          onChange={(start) => change({ start })}
        />
      }
    >
      <IdentityFields
        {...fields}
        {...targets}
        // Nodes, instance types, preferences and operating systems belong to one context.
        onChange={(part) =>
          change('context' in part ? { ...part, node: '', instancetype: '', preference: '', os: '' } : part)
        }
      />
      <SourcePicker
        {...{ context, hasImportedImages }}
        chosen={form.source}
        onChange={(source) => change({ source })}
      />
      <SourceFields {...fields} />
      <SizeFields
        {...fields}
        fixed={{
          compute: form.instancetype === '' ? undefined : `Set by ${form.instancetype}`,
          disk: form.source === 'pvc' ? 'Set by the volume' : undefined,
        }}
      />
      {form.source === 'bootc' && (
        <Field label="SSH key" id="sshKey" problem={problems.sshKey} hint="Optional. Built into the disk.">
          <TextArea
            id="sshKey"
            rows={2}
            value={form.sshKey}
            aria-describedby={helpId('sshKey')}
            onChange={(sshKey) => change({ sshKey })}
          />
        </Field>
      )}
      <Disclosure label="First boot: hostname, password, SSH keys">
        <CloudInitEditor
          value={form.cloudInit}
          onChange={(cloudInit) => change({ cloudInit })}
          problem={problems.cloudInit}
        />
      </Disclosure>
      <Disclosure label="Firmware, TPM and autostart">
        <PlatformFields {...fields} context={context} />
      </Disclosure>
      {context && context.placementFields.length > 0 && (
        <Disclosure label={placementLabel(context.placementFields)}>
          <PlacementFields {...fields} context={context} />
        </Disclosure>
      )}
    </CreationDialog>
  );
}
