import type { CreateVmDto } from '@headgate/api-contracts';
import type { FieldErrors } from '../../shared/api/field-errors.js';
import type { Identity } from '../../shared/creation/components/identity-fields.js';
import type { Sizes } from '../../shared/creation/components/size-fields.js';
import { cpuProblem, onlyProblems } from '../../shared/creation/form-problems.js';
import { quantityProblem } from '../../shared/quantity/quantity.js';
import { cloudInitText, type CloudInit, NO_CLOUD_INIT } from './cloud-init.js';
import type { SourceKind } from './sources.js';

/** What the dialog holds: texts as they were typed. */
export interface VmForm extends Identity, Sizes {
  readonly source: SourceKind;
  readonly image: string;
  readonly containerDisk: string;
  readonly import: string;
  readonly iso: string;
  readonly pvc: string;
  readonly bootc: string;
  readonly sshKey: string;
  /** Whether somebody chose the sizes; until then they follow the source. */
  readonly sized: boolean;
  readonly cloudInit: CloudInit;
  readonly node: string;
  readonly instancetype: string;
  readonly preference: string;
  readonly start: boolean;
}

export type VmField = keyof CreateVmDto;

/** What every part of the form is given. */
export interface FormPartProps {
  readonly form: VmForm;
  readonly onChange: (change: Partial<VmForm>) => void;
  readonly problems: FieldErrors<VmField>;
}

/** Every field of the request, so that a refusal can be shown where it belongs. */
export const VM_FIELDS: readonly VmField[] = [
  'name',
  'namespace',
  'context',
  'cpu',
  'mem',
  'disk',
  'containerDisk',
  'image',
  'import',
  'iso',
  'bootc',
  'pvc',
  'sshKey',
  'node',
  'cloudInit',
  'instancetype',
  'preference',
  'start',
];

const USUAL_SIZES: Sizes = { cpu: '2', mem: '4Gi', disk: '20Gi' };
const TINY_SIZES: Sizes = { cpu: '1', mem: '256Mi', disk: '1Gi' };

/** The catalog's smallest guest, which a first instance is made of. */
export const TINY_IMAGE = 'tiny';

export const EMPTY_VM: VmForm = {
  name: '',
  namespace: '',
  context: '',
  source: 'image',
  image: '',
  containerDisk: '',
  import: '',
  iso: '',
  pvc: '',
  bootc: '',
  sshKey: '',
  ...USUAL_SIZES,
  sized: false,
  cloudInit: NO_CLOUD_INIT,
  node: '',
  instancetype: '',
  preference: '',
  start: true,
};

/** A change of the form; sizes that nobody chose follow the image. */
export function changeVm(form: VmForm, change: Partial<VmForm>): VmForm {
  const touchesSizes = 'cpu' in change || 'mem' in change || 'disk' in change;
  const next = { ...form, ...change, sized: form.sized || touchesSizes };
  if (next.sized) return next;
  return { ...next, ...(next.source === 'image' && next.image === TINY_IMAGE ? TINY_SIZES : USUAL_SIZES) };
}

/** What is wrong with what the disk is made of and how big all is. */
export function vmProblems(form: VmForm): FieldErrors<VmField> {
  return onlyProblems<VmField>({
    [form.source]: form[form.source].trim() === '' ? MISSING_SOURCE[form.source] : undefined,
    disk: form.source === 'pvc' ? undefined : quantityProblem(form.disk),
    ...(form.instancetype === '' ? { cpu: cpuProblem(form.cpu), mem: quantityProblem(form.mem) } : {}),
  });
}

const MISSING_SOURCE: Readonly<Record<SourceKind, string>> = {
  image: 'Choose an image.',
  containerDisk: 'An image reference is needed.',
  import: 'An address is needed.',
  iso: 'An address is needed.',
  pvc: 'The name of a volume is needed.',
  bootc: 'An image reference is needed.',
};

/** The request: only what was chosen, so that the service's defaults hold for the rest. */
export function vmRequest(form: VmForm): CreateVmDto {
  const typed = form.instancetype === '';
  const cloudInit = cloudInitText(form.cloudInit);
  return {
    name: form.name,
    ...given('namespace', form.namespace),
    ...given('context', form.context),
    [form.source]: form[form.source].trim(),
    ...(typed ? { cpu: Number(form.cpu), mem: form.mem } : { instancetype: form.instancetype }),
    ...(form.source === 'pvc' ? {} : { disk: form.disk }),
    ...(form.source === 'bootc' ? given('sshKey', form.sshKey.trim()) : {}),
    ...given('node', form.node),
    ...given('preference', form.preference),
    ...given('cloudInit', cloudInit),
    start: form.start,
  };
}

const given = <F extends VmField>(field: F, text: string): Partial<Record<F, string>> =>
  (text === '' ? {} : { [field]: text }) as Partial<Record<F, string>>;
