import { t } from '@lingui/core/macro';
import type { CreateVmDto } from '@headgate/api-contracts';
import type { FieldErrors } from '../../shared/api/field-errors.js';
import type { Identity, Sizes } from '../../shared/creation/form-fields.js';
import { tagsOf, tagsProblem } from '../../shared/creation/tags-text.js';
import { cpuProblem, onlyProblems } from '../../shared/creation/form-problems.js';
import { diskProblem, memoryProblem } from '../../shared/quantity/quantity.js';
import { cloudInitText, type CloudInit, NO_CLOUD_INIT } from './cloud-init.js';
import type { SourceKind } from './sources.js';
import { perLanguage } from '../../shared/texts/per-language.js';

/** The contents of the form, as the user typed them. */
export interface VmForm extends Identity, Sizes {
  readonly source: SourceKind;
  readonly image: string;
  readonly containerDisk: string;
  readonly import: string;
  readonly iso: string;
  readonly pvc: string;
  readonly bootc: string;
  readonly sshKey: string;
  /** Whether the user chose the sizes. Until then, they follow the source. */
  readonly sized: boolean;
  readonly cloudInit: CloudInit;
  readonly node: string;
  readonly instancetype: string;
  readonly preference: string;
  /** Empty: that of the backend. */
  readonly network: string;
  /** Empty: that of the backend. */
  readonly storageClass: string;
  readonly folder: string;
  /** With spaces or commas between them. */
  readonly tags: string;
  readonly os: string;
  /** Empty: the default of the backend. */
  readonly firmware: '' | NonNullable<CreateVmDto['firmware']>;
  readonly tpm: '' | 'yes' | 'no';
  readonly autostart: boolean;
  readonly start: boolean;
}

export type VmField = keyof CreateVmDto;

/** The properties of every part of the form. */
export interface FormPartProps {
  readonly form: VmForm;
  readonly onChange: (change: Partial<VmForm>) => void;
  readonly problems: FieldErrors<VmField>;
}

/** Every field of the request, so that an error can be shown at its field. */
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
  'network',
  'storageClass',
  'folder',
  'tags',
  'os',
  'firmware',
  'tpm',
  'autostart',
  'start',
];

const DEFAULT_SIZES: Sizes = { cpu: '2', mem: '4Gi', disk: '20Gi' };
const TINY_SIZES: Sizes = { cpu: '1', mem: '256Mi', disk: '1Gi' };

/** The catalog's smallest image, which is preselected. */
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
  ...DEFAULT_SIZES,
  sized: false,
  cloudInit: NO_CLOUD_INIT,
  node: '',
  instancetype: '',
  preference: '',
  network: '',
  storageClass: '',
  folder: '',
  tags: '',
  os: '',
  firmware: '',
  tpm: '',
  autostart: false,
  start: true,
};

/** Applies a change. Sizes that the user did not choose follow the image. */
export function changeVm(form: VmForm, change: Partial<VmForm>): VmForm {
  const touchesSizes = 'cpu' in change || 'mem' in change || 'disk' in change;
  const next = { ...form, ...change, sized: form.sized || touchesSizes };
  if (next.sized) return next;
  return { ...next, ...(next.source === 'image' && next.image === TINY_IMAGE ? TINY_SIZES : DEFAULT_SIZES) };
}

/** The problems with the source and the sizes. */
export function vmProblems(form: VmForm): FieldErrors<VmField> {
  return onlyProblems<VmField>({
    [form.source]: form[form.source].trim() === '' ? missingSource()[form.source] : undefined,
    disk: form.source === 'pvc' ? undefined : diskProblem(form.disk),
    tags: tagsProblem(form.tags),
    ...(form.instancetype === '' ? { cpu: cpuProblem(form.cpu), mem: memoryProblem(form.mem) } : {}),
  });
}

const missingSource = perLanguage((): Readonly<Record<SourceKind, string>> => ({
  image: t`Choose an image.`,
  containerDisk: t`Enter an image reference.`,
  import: t`Enter a URL.`,
  iso: t`Enter a URL.`,
  pvc: t`Enter the name of a volume.`,
  bootc: t`Enter an image reference.`,
}));

/** The form as the storage of the browser may have it: user data may contain passwords. */
export const withoutSecrets = (form: VmForm): VmForm => ({
  ...form,
  cloudInit: { ...form.cloudInit, password: '', text: '', isText: false },
});

/** The request: only the fields with a value, so that the service's defaults apply to the rest. */
export function vmRequest(form: VmForm): CreateVmDto {
  const hasOwnSizes = form.instancetype === '';
  const cloudInit = cloudInitText(form.cloudInit);
  const tags = tagsOf(form.tags);
  return {
    name: form.name,
    ...ifSet('namespace', form.namespace),
    ...ifSet('context', form.context),
    [form.source]: form[form.source].trim(),
    ...(hasOwnSizes ? { cpu: Number(form.cpu), mem: form.mem } : { instancetype: form.instancetype }),
    ...(form.source === 'pvc' ? {} : { disk: form.disk }),
    ...(form.source === 'bootc' ? ifSet('sshKey', form.sshKey.trim()) : {}),
    ...ifSet('node', form.node),
    ...ifSet('preference', form.preference),
    ...ifSet('network', form.network),
    ...(form.source === 'pvc' ? {} : ifSet('storageClass', form.storageClass.trim())),
    ...ifSet('folder', form.folder.trim()),
    ...(tags.length === 0 ? {} : { tags }),
    ...ifSet('cloudInit', cloudInit),
    ...ifSet('os', form.os.trim()),
    ...(form.firmware === '' ? {} : { firmware: form.firmware }),
    ...(form.tpm === '' ? {} : { tpm: form.tpm === 'yes' }),
    ...(form.autostart ? { autostart: true } : {}),
    start: form.start,
  };
}

const ifSet = <F extends VmField>(field: F, text: string): Partial<Record<F, string>> =>
  (text === '' ? {} : { [field]: text }) as Partial<Record<F, string>>;
