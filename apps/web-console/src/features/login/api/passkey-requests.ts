import { useQuery } from '@tanstack/react-query';
import { deleteJson, getJson, postJson } from '../../../shared/api/request.js';

const TRANSPORTS = ['ble', 'cable', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb'] as const;

export const PASSKEYS_KEY = ['own-passkeys'];

/** Whether the browser has WebAuthn with its forms for JSON, as all of them have since 2025. */
export const hasPasskeys = (): boolean =>
  typeof PublicKeyCredential === 'function' && 'parseRequestOptionsFromJSON' in PublicKeyCredential;

export const usePasskeys = () =>
  useQuery({ queryKey: PASSKEYS_KEY, queryFn: ({ signal }) => getJson('/api/ext/login/passkeys', { signal }) });

/** Logs in with a passkey that the user chooses. @returns false if they choose none */
export async function logInWithPasskey(): Promise<boolean> {
  const options = await postJson('/api/ext/login/passkey/options');
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options);
  const credential = await chosen(() => navigator.credentials.get({ publicKey }));
  if (!credential) return false;
  const { id, response } = credential.toJSON() as AuthenticationResponseJSON;
  const { clientDataJSON, authenticatorData, signature, userHandle = '' } = response;
  await postJson('/api/ext/login/passkey', {
    body: { id, clientDataJSON, authenticatorData, signature, userHandle },
  });
  return true;
}

/** Adds a passkey on the authenticator that the user chooses. @returns false if they choose none */
export async function addPasskey(name: string, password: string): Promise<boolean> {
  const options = await postJson('/api/ext/login/passkeys/options', { body: { password } });
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options);
  const credential = await chosen(() => navigator.credentials.create({ publicKey }));
  if (!credential) return false;
  const { id, response } = credential.toJSON() as RegistrationResponseJSON;
  const { clientDataJSON, attestationObject, transports } = response;
  // A browser may know newer ones.
  const known = TRANSPORTS.filter((one) => transports.includes(one));
  await postJson('/api/ext/login/passkeys', {
    body: { name, id, clientDataJSON, attestationObject, transports: known },
  });
  return true;
}

export const removePasskey = (id: string) => deleteJson(`/api/ext/login/passkeys/${id}`);

/** Browsers report with the same error that the user has closed their dialog, and that no authenticator fits. */
async function chosen(ask: () => Promise<Credential | null>): Promise<PublicKeyCredential | undefined> {
  try {
    return ((await ask()) as PublicKeyCredential | null) ?? undefined;
  } catch (error) {
    if (error instanceof DOMException && error.name === 'NotAllowedError') return undefined;
    throw error;
  }
}
