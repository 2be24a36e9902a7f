/** The user data of a first boot: from three fields, or as somebody wrote it. */
export interface CloudInit {
  readonly byHand: boolean;
  readonly hostname: string;
  readonly password: string;
  /** Public keys, one per line. */
  readonly keys: string;
  readonly text: string;
}

export const NO_CLOUD_INIT: CloudInit = { byHand: false, hostname: '', password: '', keys: '', text: '' };

/** JSON strings are YAML strings too, whatever is in them. */
const quoted = (text: string): string => JSON.stringify(text);

/** The user data to send; empty when nothing was asked for. */
export function cloudInitText(cloudInit: CloudInit): string {
  return cloudInit.byHand ? cloudInit.text.trim() && cloudInit.text : fromFields(cloudInit);
}

/** Source of the keys' names: https://cloudinit.readthedocs.io/en/latest/reference/modules.html */
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

/** From the fields to the text, which then is the truth. */
export const editByHand = (cloudInit: CloudInit): CloudInit => ({
  ...cloudInit,
  byHand: true,
  text: cloudInit.text || fromFields(cloudInit) || '#cloud-config\n',
});

/** What looks wrong with user data; a hint, since the guest decides. */
export function cloudInitWarning(cloudInit: CloudInit): string | undefined {
  const text = cloudInitText(cloudInit);
  if (text === '' || /^(#cloud-config|#!|#include|#cloud-boothook|Content-Type:)/.test(text)) return undefined;
  return 'The first line should be #cloud-config, or the guest will not read it.';
}
