/** The user data for the first boot: built from fields, or a text by the user. */
export interface CloudInit {
  /** Whether the text is used instead of the fields. */
  readonly isText: boolean;
  readonly hostname: string;
  readonly password: string;
  /** Public keys, one per line. */
  readonly keys: string;
  readonly text: string;
}

export const NO_CLOUD_INIT: CloudInit = { isText: false, hostname: '', password: '', keys: '', text: '' };

/** Every JSON string is also a YAML string. */
const quoted = (text: string): string => JSON.stringify(text);

/** The user data to send; empty when the user entered nothing. */
export function cloudInitText(cloudInit: CloudInit): string {
  return cloudInit.isText ? cloudInit.text.trim() && cloudInit.text : fromFields(cloudInit);
}

/** The names of the keys: https://cloudinit.readthedocs.io/en/latest/reference/modules.html */
function fromFields({ hostname, password, keys }: CloudInit): string {
  const keyLines = keys
    .split('\n')
    .map((key) => key.trim())
    .filter(Boolean);
  const lines = [
    ...(hostname === '' ? [] : [`hostname: ${quoted(hostname)}`]),
    ...(password === '' ? [] : [`password: ${quoted(password)}`, 'chpasswd: { expire: false }', 'ssh_pwauth: true']),
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
  return 'The text should start with #cloud-config. Otherwise, the guest ignores it.';
}
