import { t } from '@lingui/core/macro';
import { CreationPage } from '../../../shared/creation/components/creation-page.js';
import { CreationSection } from '../../../shared/creation/components/creation-section.js';
import { IdentityFields } from '../../../shared/creation/components/identity-fields.js';
import { SizeFields } from '../../../shared/creation/components/size-fields.js';
import type { Created } from '../../../shared/creation/create-instance.js';
import { Disclosure } from '../../../shared/ui/disclosure.js';
import { Field, helpId } from '../../../shared/ui/field.js';
import { Switch, TextArea } from '../../../shared/ui/inputs.js';
import { sectionsOf } from '../sections.js';
import { useVmForm } from '../use-vm-form.js';
import type { VmForm } from '../vm-form.js';
import { BelongingFields } from './belonging-fields.js';
import { CloudInitEditor } from './cloud-init-editor.js';
import { PlacementFields, placementLabel } from './placement-fields.js';
import { PlatformFields } from './platform-fields.js';
import { SizePicker } from './size-picker.js';
import { SourceFields } from './source-fields.js';
import { SourcePicker } from './source-picker.js';

interface CreateVmPageProps {
  onClose: () => void;
  onCreated: (created: Created, form: VmForm) => void;
}

/** Creates a VM: one page with useful defaults. */
export function CreateVmPage({ onClose, onCreated }: CreateVmPageProps) {
  const { creation, targets, context, hasImportedImages } = useVmForm(onCreated);
  const { form, change, problems } = creation;
  const fields = { form, onChange: change, problems };

  return (
    <CreationPage
      title={t`Create VM`}
      creation={creation}
      steps={sectionsOf(form)}
      namespace={form.namespace || (context?.namespaces.default ?? '')}
      secret={form.cloudInit.isText ? undefined : form.cloudInit.password}
      onClose={onClose}
    >
      <CreationSection id="source" title={t`Where from`}>
        <SourcePicker
          {...{ context, hasImportedImages }}
          chosen={form.source}
          onChange={(source) => change({ source })}
        />
        <SourceFields {...fields} />
        {form.source === 'bootc' && (
          <Field label={t`SSH key`} id="sshKey" problem={problems.sshKey} hint={t`Optional. Built into the disk.`}>
            <TextArea
              id="sshKey"
              rows={2}
              value={form.sshKey}
              aria-describedby={helpId('sshKey')}
              onChange={(sshKey) => change({ sshKey })}
            />
          </Field>
        )}
      </CreationSection>
      <CreationSection id="size" title={t`Size`}>
        <SizePicker form={form} onChange={change} context={context} />
        <SizeFields
          {...fields}
          fixed={{
            compute: form.instancetype === '' ? undefined : t`Set by ${form.instancetype}`,
            disk: form.source === 'pvc' ? t`Set by the volume` : undefined,
          }}
        />
      </CreationSection>
      <CreationSection id="place" title={t`Name, place and network`}>
        <IdentityFields
          {...fields}
          {...targets}
          // Nodes, networks, instance types, preferences and operating systems belong to one context.
          onChange={(part) => change('context' in part ? { ...part, ...NOTHING_OF_CONTEXT } : part)}
        />
        <BelongingFields {...fields} context={context} />
        {context && context.placementFields.length > 0 && (
          <Disclosure label={placementLabel(context.placementFields)}>
            <PlacementFields {...fields} context={context} />
          </Disclosure>
        )}
        <Disclosure label={t`Firmware, TPM and autostart`}>
          <PlatformFields {...fields} context={context} />
        </Disclosure>
      </CreationSection>
      <CreationSection id="boot" title={t`First boot`}>
        <CloudInitEditor
          value={form.cloudInit}
          onChange={(cloudInit) => change({ cloudInit })}
          problem={problems.cloudInit}
        />
        <Switch
          id="start"
          label={t`Start when the disk is ready`}
          isChecked={form.start}
          onChange={(start) => change({ start })}
        />
      </CreationSection>
    </CreationPage>
  );
}

const NOTHING_OF_CONTEXT = { node: '', instancetype: '', preference: '', os: '', network: '', storageClass: '' };
