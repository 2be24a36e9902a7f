import { plural, t } from '@lingui/core/macro';
import type { InstancetypeSizeView } from '@headgate/api-contracts';
import { bytesOf, readableQuantity } from '../../../shared/quantity/quantity.js';
import type { ContextCapabilities } from '../../../shared/queries/use-capabilities.js';
import { useInstancetypes } from '../api/use-instancetypes.js';
import { SIZE_PRESETS } from '../size-presets.js';
import type { FormPartProps } from '../vm-form.js';

/** More would push the rest of the form away: the list of all is under "Instance type". */
const MAX_TYPES = 4;

interface SizePickerProps extends Omit<FormPartProps, 'problems'> {
  readonly context: ContextCapabilities | undefined;
}

/** Usual sizes and the instance types of the context. The fields below take any other size. */
export function SizePicker({ context, form, onChange }: SizePickerProps) {
  const hasTypes = context?.placementFields.includes('instancetype') ?? false;
  const { data: types } = useInstancetypes(context?.context ?? '', hasTypes);
  const offered = [
    ...SIZE_PRESETS.map(({ name, cpu, mem }) => ({
      name,
      size: sizeText(Number(cpu), readableQuantity(mem)),
      isChosen: form.instancetype === '' && form.cpu === cpu && form.mem === mem,
      change: { cpu, mem, instancetype: '' },
    })),
    ...smallest(types?.sizes ?? []).map(({ name, cpu, mem }) => ({
      name,
      size: sizeText(cpu, readableQuantity(mem)),
      isChosen: form.instancetype === name,
      change: { instancetype: name },
    })),
  ];
  return (
    <fieldset className="hg-sizes">
      <legend className="hg-hidden">{t`Usual sizes`}</legend>
      {offered.map(({ name, size, isChosen, change }) => (
        <label key={name} className="hg-tile">
          <input type="radio" name="size" checked={isChosen} onChange={() => onChange(change)} />
          <span>
            <b translate="no">{name}</b>
            <span className="hg-note">{size}</span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}

const smallest = (sizes: readonly InstancetypeSizeView[]): readonly InstancetypeSizeView[] =>
  [...sizes]
    .sort((a, b) => bytesOf(a.mem) - bytesOf(b.mem) || a.cpu - b.cpu || a.name.localeCompare(b.name))
    .slice(0, MAX_TYPES);

const sizeText = (cpu: number, mem: string): string => t`${plural(cpu, { one: '# CPU', other: '# CPUs' })}, ${mem}`;
