/**
 * A certificate that no client accepts, with its key, as PEM. A server needs one before the authority has issued the
 * first. It is that of a challenge that does not exist.
 */
export async function createPlaceholder(domain: string): Promise<string> {
  const { default: acme } = await import('acme-client');
  const identifier = { type: 'dns', value: domain } as never;
  const [key, certificate] = await acme.crypto.createAlpnCertificate(
    { identifier } as never,
    'placeholder',
    await acme.crypto.createPrivateEcdsaKey(),
  );
  return `${String(key)}${String(certificate)}`;
}
