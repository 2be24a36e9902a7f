import { parseSshKey } from '@headgate/instances';

/** A public key of the type Ed25519 whose 32 bytes are all the same. */
export function sshKeyLine(byte: number): string {
  const fields = [Buffer.from('ssh-ed25519'), Buffer.alloc(32, byte)];
  const blob = Buffer.concat(fields.map((one) => Buffer.concat([Buffer.from([0, 0, 0, one.length]), one])));
  return `ssh-ed25519 ${blob.toString('base64')}`;
}

export const sshKeyId = (byte: number): string => parseSshKey(sshKeyLine(byte)).id;
