import { randomBytes } from 'node:crypto';
import type { SimulationContext } from '../simulation-context.js';

const LIFETIME_MS = 300_000;

/** Tokens for the upload proxy; each is valid for one claim and five minutes. */
export class UploadTokens {
  private readonly claims = new Map<string, { namespace: string; name: string }>();

  constructor(private readonly context: SimulationContext) {}

  issue(namespace: string, name: string): string {
    const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
    const payload = { pvcName: name, namespace, exp: Math.floor((this.context.clock.now() + LIFETIME_MS) / 1000) };
    const token = `${part({ alg: 'none', typ: 'JWT' })}.${part(payload)}.${randomBytes(24).toString('base64url')}`;
    this.claims.set(token, { namespace, name });
    this.context.clock.schedule(() => this.claims.delete(token), LIFETIME_MS);
    return token;
  }

  claimOf(token: string): { namespace: string; name: string } | undefined {
    return this.claims.get(token);
  }
}
