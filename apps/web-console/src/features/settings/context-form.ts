import { t } from '@lingui/core/macro';
import type { AddContextDto, ChangeContextDto, ContextView } from '@headgate/api-contracts';
import type { FieldErrors } from '../../shared/api/field-errors.js';
import { onlyProblems } from '../../shared/creation/form-problems.js';
import { nameProblem } from '../../shared/names/name-rule.js';
import { perLanguage } from '../../shared/texts/per-language.js';

/** The settings that the form knows. */
export type SettingName =
  'kubeconfig' | 'kubeContext' | 'uri' | 'address' | 'trustToken' | 'fingerprint' | 'socket' | 'project';

/** The contents of the form, as the user typed them, for all kinds. */
export type ContextForm = Readonly<Record<'name' | 'kind' | SettingName, string>>;
export type ContextField = keyof ContextForm;

export const EMPTY_CONTEXT: ContextForm = {
  name: '',
  kind: 'kubevirt',
  kubeconfig: '',
  kubeContext: '',
  uri: '',
  address: '',
  trustToken: '',
  fingerprint: '',
  socket: '',
  project: '',
};

export interface SettingField {
  readonly name: SettingName;
  readonly label: string;
  readonly hint?: string;
  readonly placeholder?: string;
  readonly isRequired?: boolean;
  /** Several lines. */
  readonly isLong?: boolean;
  /** Whether no storage of the browser may have it. */
  readonly isSecret?: boolean;
}

interface KindFields {
  readonly label: string;
  readonly fields: readonly SettingField[];
}

/** The kinds that the page has a form for, with their fields. */
export const kindFields = perLanguage((): Readonly<Record<string, KindFields>> => ({
  kubevirt: {
    label: t`Cluster with KubeVirt`,
    fields: [
      {
        name: 'kubeconfig',
        label: 'Kubeconfig',
        hint: t`The text, with a token or a certificate in it: kubectl config view --minify --flatten`,
        isRequired: true,
        isLong: true,
        isSecret: true,
      },
      { name: 'kubeContext', label: t`Context in the kubeconfig`, hint: t`If empty, its current context` },
    ],
  },
  libvirt: {
    label: t`Machine with libvirt`,
    fields: [
      {
        name: 'uri',
        label: 'URI',
        placeholder: 'qemu+ssh://vms@host.example/system',
        hint: t`qemu:///system, or a machine over ssh or TLS. ssh uses the keys of the service.`,
        isRequired: true,
      },
    ],
  },
  incus: {
    label: t`Server of Incus or LXD`,
    fields: [
      { name: 'address', label: t`Address`, placeholder: 'https://host.example:8443' },
      {
        name: 'trustToken',
        label: t`Trust token`,
        hint: t`From incus config trust add. It is used once, when the context is added.`,
        isSecret: true,
      },
      { name: 'fingerprint', label: t`Fingerprint of the certificate`, hint: t`If empty, the one in the token` },
      { name: 'socket', label: t`Socket`, hint: t`Instead of an address: a daemon on the machine of the service` },
      { name: 'project', label: t`Project`, hint: t`All projects if empty` },
    ],
  },
}));

export const fieldsOf = (kind: string): readonly SettingField[] => kindFields()[kind]?.fields ?? [];

/** The fields of a change. A secret is empty, and kept if it stays so. */
export const changeFieldsOf = (kind: string): readonly SettingField[] =>
  fieldsOf(kind).map((field) =>
    field.isSecret
      ? { ...field, isRequired: false, hint: t`The present one is never shown. It is kept if this is empty.` }
      : field,
  );

/** The form with the settings that a context has. Secrets are not known to the page. */
export const formOfContext = ({ name, kind, settings }: ContextView): ContextForm => ({
  ...EMPTY_CONTEXT,
  ...Object.fromEntries(changeFieldsOf(kind).map((field) => [field.name, settings[field.name] ?? ''])),
  name,
  kind,
});

/** The problems of each field of a change. */
export const changeProblems = (form: ContextForm): FieldErrors<ContextField> =>
  settingProblems(form, changeFieldsOf(form.kind));

/** The settings that a form changes: null removes one. */
export function changedSettings(context: ContextView, form: ContextForm): ChangeContextDto['settings'] {
  const before = formOfContext(context);
  const changed = changeFieldsOf(form.kind).filter(({ name }) => form[name].trim() !== before[name]);
  return Object.fromEntries(changed.map(({ name }) => [name, form[name].trim() || null]));
}

/** The problems of each field. The service has the last word. */
export function contextProblems(form: ContextForm): FieldErrors<ContextField> {
  return {
    ...onlyProblems<ContextField>({ name: nameProblem(form.name) }),
    ...settingProblems(form, fieldsOf(form.kind)),
  };
}

function settingProblems(form: ContextForm, fields: readonly SettingField[]): FieldErrors<ContextField> {
  const missing = fields.filter(({ name, isRequired = false }) => isRequired && form[name].trim() === '');
  return onlyProblems<ContextField>({
    ...Object.fromEntries(missing.map(({ name, label }) => [name, t`Enter a value for ${label}.`])),
    ...(form.kind === 'incus' && form.address.trim() === '' && form.socket.trim() === ''
      ? { address: t`Enter an address or a socket.` }
      : {}),
  });
}

/** The request with the fields of the kind that have a value. */
export function contextRequest(form: ContextForm): AddContextDto {
  const given = fieldsOf(form.kind).filter(({ name }) => form[name].trim() !== '');
  return {
    name: form.name,
    kind: form.kind,
    settings: Object.fromEntries(given.map(({ name }) => [name, form[name].trim()])),
  };
}

/** The form as the storage of the browser may have it. */
export const withoutSecrets = (form: ContextForm): ContextForm => ({ ...form, kubeconfig: '', trustToken: '' });
