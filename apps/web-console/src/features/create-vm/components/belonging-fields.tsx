import { t } from '@lingui/core/macro';
import { FolderField } from '../../../shared/creation/components/folder-field.js';
import { TagsField } from '../../../shared/creation/components/tags-field.js';
import { TextField } from '../../../shared/creation/components/text-field.js';
import { useCapabilities, type ContextCapabilities } from '../../../shared/queries/use-capabilities.js';
import { useNads } from '../../../shared/queries/use-nads.js';
import { Field, helpId } from '../../../shared/ui/field.js';
import { SelectInput } from '../../../shared/ui/inputs.js';
import type { FormPartProps } from '../vm-form.js';

interface BelongingFieldsProps extends FormPartProps {
  readonly context: ContextCapabilities | undefined;
}

/** The network, the storage, the folder and the tags of a new VM. */
export function BelongingFields({ context, form, onChange, problems }: BelongingFieldsProps) {
  const { data: networks = [] } = useNads();
  const { data: capabilities } = useCapabilities();
  const isSingleHost = context?.isSingleHost ?? false;
  const own = form.namespace || context?.namespaces.default;
  const names = networks
    .filter((network) => network.context === context?.context)
    // Without a namespace, a network is looked up in that of the VM.
    .map(({ namespace, name }) => (isSingleHost || namespace === own ? name : `${namespace}/${name}`));
  return (
    <div className="hg-grid hg-grid--quarters">
      <Field label={t`Network`} id="network" problem={problems.network}>
        <SelectInput
          id="network"
          value={form.network}
          isInvalid={problems.network !== undefined}
          aria-describedby={helpId('network')}
          onChange={(network) => onChange({ network })}
        >
          <option value="">{isSingleHost ? t`The network for VMs` : t`Pod network`}</option>
          {names.map((name) => (
            <option key={name} value={name} translate="no">
              {name}
            </option>
          ))}
          {form.network !== '' && !names.includes(form.network) && (
            <option value={form.network}>{t`${form.network} (not found)`}</option>
          )}
        </SelectInput>
      </Field>
      {form.source !== 'pvc' && (
        <TextField
          id="storageClass"
          label={isSingleHost ? t`Storage pool` : t`Storage class`}
          placeholder={isSingleHost ? '' : (capabilities?.storageClass ?? '')}
          value={form.storageClass}
          onChange={(storageClass) => onChange({ storageClass })}
          problem={problems.storageClass}
        />
      )}
      <FolderField value={form.folder} onChange={(folder) => onChange({ folder })} problem={problems.folder} />
      <TagsField value={form.tags} onChange={(tags) => onChange({ tags })} problem={problems.tags} />
    </div>
  );
}
