import { randomBytes } from 'node:crypto';
import type { SimulationContext } from '../simulation-context.js';

/** Tokens for the upload proxy; each is valid for one claim and a limited time. */
export class UploadTokens {
  private readonly claims = new Map<string, { namespace: string; name: string }>();

  constructor(private readonly context: SimulationContext) {}

  issue(namespace: string, name: string): string {
    const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
    const { clock, uploadTokenMs } = this.context;
    const payload = { pvcName: name, namespace, exp: Math.floor((clock.now() + uploadTokenMs) / 1000) };
    const token = `${part({ alg: 'none', typ: 'JWT' })}.${part(payload)}.${randomBytes(24).toString('base64url')}`;
    this.claims.set(token, { namespace, name });
    clock.schedule(() => this.claims.delete(token), uploadTokenMs);
    return token;
  }

  claimOf(token: string): { namespace: string; name: string } | undefined {
    return this.claims.get(token);
  }
}
