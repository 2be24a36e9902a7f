import { t } from '@lingui/core/macro';
/** The user data for the first boot: built from fields, or a text by the user. */
export interface CloudInit {
  /** Whether the text is used instead of the fields. */
  readonly isText: boolean;
  /** The name of the user, in place of that of the image. */
  readonly user: string;
  readonly hostname: string;
  readonly password: string;
  /** Public keys, one per line. */
  readonly keys: string;
  /** With spaces or commas between them. */
  readonly packages: string;
  readonly text: string;
}

export const NO_CLOUD_INIT: CloudInit = {
  isText: false,
  user: '',
  hostname: '',
  password: '',
  keys: '',
  packages: '',
  text: '',
};

/** Every JSON string is also a YAML string. */
const quoted = (text: string): string => JSON.stringify(text);

/** The user data to send; empty when the user entered nothing. */
export function cloudInitText(cloudInit: CloudInit): string {
  return cloudInit.isText ? cloudInit.text.trim() && cloudInit.text : fromFields(cloudInit);
}

/** The names of the keys: https://cloudinit.readthedocs.io/en/latest/reference/modules.html */
function fromFields({ user, hostname, password, keys, packages }: CloudInit): string {
  const keyLines = keys
    .split('\n')
    .map((key) => key.trim())
    .filter(Boolean);
  const wanted = packages.split(/[\s,]+/).filter(Boolean);
  const lines = [
    ...(user === '' ? [] : [`user: ${quoted(user)}`]),
    ...(hostname === '' ? [] : [`hostname: ${quoted(hostname)}`]),
    ...(password === '' ? [] : [`password: ${quoted(password)}`, 'chpasswd: { expire: false }', 'ssh_pwauth: true']),
    ...(wanted.length === 0 ? [] : [`packages: ${JSON.stringify(wanted)}`]),
    ...(keyLines.length === 0 ? [] : ['ssh_authorized_keys:', ...keyLines.map((key) => `  - ${quoted(key)}`)]),
  ];
  return lines.length === 0 ? '' : `${['#cloud-config', ...lines].join('\n')}\n`;
}

/** Switches from the fields to the text. */
export const editAsText = (cloudInit: CloudInit): CloudInit => ({
  ...cloudInit,
  isText: true,
  text: cloudInit.text || fromFields(cloudInit) || '#cloud-config\n',
});

/** A likely mistake in the user data. Only a hint, because the guest decides. */
export function cloudInitWarning(cloudInit: CloudInit): string | undefined {
  const text = cloudInitText(cloudInit);
  if (text === '' || /^(#cloud-config|#!|#include|#cloud-boothook|Content-Type:)/.test(text)) return undefined;
  return t`The text should start with #cloud-config. Otherwise, the guest ignores it.`;
}
