import { t } from '@lingui/core/macro';
import type { ContextCapabilities } from '../../../shared/queries/use-capabilities.js';
import { Field, helpId } from '../../../shared/ui/field.js';
import { SelectInput, Switch, TextInput } from '../../../shared/ui/inputs.js';
import type { FormPartProps, VmForm } from '../vm-form.js';

interface PlatformFieldsProps extends FormPartProps {
  readonly context: ContextCapabilities | undefined;
}

/** Whether the context chooses virtual hardware by the operating system; others have preferences. */
export const hasOperatingSystems = (context: ContextCapabilities | undefined): boolean =>
  context !== undefined && !context.placementFields.includes('preference');

/** The firmware, the TPM, the operating system, and whether the VM starts with its host. */
export function PlatformFields({ context, form, onChange, problems }: PlatformFieldsProps) {
  return (
    <>
      <div className="hg-grid hg-grid--thirds">
        <Field label={t`Firmware`} id="firmware" problem={problems.firmware}>
          <SelectInput
            id="firmware"
            value={form.firmware}
            aria-describedby={helpId('firmware')}
            onChange={(firmware) => onChange({ firmware: firmware as VmForm['firmware'] })}
          >
            <option value="">{t`Default`}</option>
            <option value="bios">{t`BIOS`}</option>
            <option value="uefi">{t`UEFI`}</option>
            <option value="uefi-secure">{t`UEFI with Secure Boot`}</option>
          </SelectInput>
        </Field>
        <Field label="TPM" id="tpm" problem={problems.tpm}>
          <SelectInput
            id="tpm"
            value={form.tpm}
            aria-describedby={helpId('tpm')}
            onChange={(tpm) => onChange({ tpm: tpm as VmForm['tpm'] })}
          >
            <option value="">{t`Default`}</option>
            <option value="yes">{t`TPM 2.0`}</option>
            <option value="no">{t`None`}</option>
          </SelectInput>
        </Field>
        {hasOperatingSystems(context) && (
          <Field
            label={t`Operating system`}
            id="os"
            problem={problems.os}
            hint={t`For example debian12 or win11. Optional.`}
          >
            <TextInput
              id="os"
              value={form.os}
              isInvalid={problems.os !== undefined}
              aria-describedby={helpId('os')}
              onChange={(os) => onChange({ os })}
            />
          </Field>
        )}
      </div>
      <Switch
        id="autostart"
        label={t`Start with the host`}
        isChecked={form.autostart}
        onChange={(autostart) => onChange({ autostart })}
      />
    </>
  );
}
