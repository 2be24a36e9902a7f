import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';
import type { Passkey } from '@headgate/domain-contracts';

/** The answer of an authenticator to a login. All texts are in Base64url. */
export interface PasskeyAnswer {
  readonly id: string;
  readonly clientDataJSON: string;
  readonly authenticatorData: string;
  readonly signature: string;
  /** The handle of the account. */
  readonly userHandle: string;
}

/** The answer of an authenticator to a registration. All texts are in Base64url. */
export interface PasskeyCreation {
  readonly id: string;
  readonly clientDataJSON: string;
  readonly attestationObject: string;
  readonly transports: readonly string[];
}

/** Algorithms of COSE, the preferred one first: EdDSA, ES256, and RS256 for Windows Hello. */
export const PASSKEY_ALGORITHMS = [-8, -7, -257];

type Verified = Pick<Passkey, 'id' | 'publicKey' | 'counter' | 'isSynced'>;

/** Checked for unknown passkeys, with the same work. A key on P-256 in the format of COSE; its private key is lost. */
const NO_KEY = Buffer.from(
  'a5010203262001215820fdd1eec8ba0a1cf781d1d7f8ccceee33c4b95dbe3c5624ae6a681ec9e4d00df3' +
    '2258208e57b9c5cd44b83eec817dd9da0fb5e71c2b85a0487c833d18cbcee04e2c290e',
  'hex',
);

/** Checks the answers of authenticators. The library is loaded when the first passkey is used. */
export class PasskeyCeremony {
  private readonly rpId: string;
  private readonly origin: string;

  /** @param address that browsers use. Passkeys are bound to its name */
  constructor(address: URL) {
    this.rpId = address.hostname;
    this.origin = address.origin;
  }

  get relyingParty(): string {
    return this.rpId;
  }

  /** @returns undefined for an answer that is not valid for the challenge here */
  async verifyCreation(answer: PasskeyCreation, challenge: string): Promise<Verified | undefined> {
    const { verifyRegistrationResponse } = await import('@simplewebauthn/server');
    const { id, clientDataJSON, attestationObject } = answer;
    if (isFramed(clientDataJSON)) return undefined;
    const response: RegistrationResponseJSON = {
      id,
      rawId: id,
      type: 'public-key',
      clientExtensionResults: {},
      response: { clientDataJSON, attestationObject },
    };
    const expected = { expectedChallenge: challenge, expectedOrigin: this.origin, expectedRPID: this.rpId };
    const result = await verifyRegistrationResponse({
      response,
      ...expected,
      supportedAlgorithmIDs: PASSKEY_ALGORITHMS,
    }).catch(() => undefined);
    if (!result?.verified) return undefined;
    const { credential, credentialBackedUp } = result.registrationInfo;
    // The ID in the signed data counts.
    if (credential.id !== id) return undefined;
    const publicKey = Buffer.from(credential.publicKey).toString('base64url');
    return { id, publicKey, counter: credential.counter, isSynced: credentialBackedUp };
  }

  /**
   * The same work with and without a passkey, which an unknown ID has not.
   * @returns the new counter; undefined for an answer that is not valid for the challenge here
   */
  async verifyLogin(
    answer: PasskeyAnswer,
    challenge: string,
    passkey: Passkey | undefined,
  ): Promise<{ counter: number; isSynced: boolean } | undefined> {
    const { verifyAuthenticationResponse } = await import('@simplewebauthn/server');
    const { id, clientDataJSON, authenticatorData, signature, userHandle } = answer;
    const response: AuthenticationResponseJSON = {
      id,
      rawId: id,
      type: 'public-key',
      clientExtensionResults: {},
      response: { clientDataJSON, authenticatorData, signature, userHandle },
    };
    const result = await verifyAuthenticationResponse({
      response,
      expectedChallenge: challenge,
      expectedOrigin: this.origin,
      expectedRPID: this.rpId,
      // The library would compare the counter before the signature: without the key, anyone could report a copy.
      credential: { id, publicKey: bytesOf(passkey?.publicKey), counter: 0 },
    }).catch(() => undefined);
    if (!result?.verified || !passkey || isFramed(clientDataJSON)) return undefined;
    const { newCounter, credentialBackedUp } = result.authenticationInfo;
    return { counter: newCounter, isSynced: credentialBackedUp };
  }
}

const bytesOf = (publicKey: string | undefined): Uint8Array<ArrayBuffer> =>
  new Uint8Array(publicKey === undefined ? NO_KEY : Buffer.from(publicKey, 'base64url'));

/** Whether a page inside the page of another site has asked, where the user does not see who asks. */
function isFramed(clientDataJSON: string): boolean {
  try {
    return (
      (JSON.parse(Buffer.from(clientDataJSON, 'base64url').toString()) as Record<string, unknown>)['crossOrigin'] ===
      true
    );
  } catch {
    return true;
  }
}
