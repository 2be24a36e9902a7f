import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider, { type Context } from 'oidc-provider';

export const CLIENT_SECRET = 'a-secret-of-the-client-that-is-long-enough';
const SCOPES = 'openid profile groups';
const FORM = `<!doctype html><title>Provider</title><form method="post">
  <label>Name <input name="login"></label><button>Continue</button></form>`;

/** A login provider of another project: `oidc-provider`, with one page that asks for a name. */
export class OpenIdPeer {
  /** The groups of each user. */
  readonly groups = new Map<string, readonly string[]>();
  private handler: ((request: IncomingMessage, response: ServerResponse) => void) | undefined;

  private constructor(private readonly server: Server) {
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      if (this.handler) this.handler(request, response);
      else response.writeHead(503).end();
    });
  }

  /** Reserves the address. Requests are answered with 503 until it is opened. */
  static async listen(): Promise<OpenIdPeer> {
    const server = createServer().listen(0, 'localhost');
    await once(server, 'listening');
    return new OpenIdPeer(server);
  }

  get issuer(): string {
    return `http://localhost:${(this.server.address() as AddressInfo).port}`;
  }

  /** Opens the provider for a service. @param ids the IDs that the service has for this provider */
  open(serviceUrl: string, ids: readonly string[]): void {
    const provider: Provider = new Provider(this.issuer, {
      clients: [
        {
          client_id: 'headgate',
          client_secret: CLIENT_SECRET,
          redirect_uris: ids.map((id) => `${serviceUrl}/api/ext/login/providers/${id}/callback`),
          post_logout_redirect_uris: [`${serviceUrl}/`],
        },
      ],
      pkce: { required: () => true },
      scopes: SCOPES.split(' '),
      claims: { openid: ['sub'], profile: ['name', 'preferred_username'], groups: ['groups'] },
      cookies: { keys: ['of-a-test'] },
      interactions: { url: (_context: Context, { uid }: { uid: string }) => `/interaction/${uid}` },
      findAccount: (_context: Context, id: string) => ({
        accountId: id,
        claims: () => ({ sub: id, preferred_username: id, name: `Name of ${id}`, groups: this.groups.get(id) ?? [] }),
      }),
      loadExistingGrant: async ({ oidc }: Context) => {
        const grant = new provider.Grant({ clientId: oidc.client.clientId, accountId: oidc.session.accountId });
        grant.addOIDCScope(SCOPES);
        await grant.save();
        return grant;
      },
      features: {
        devInteractions: { enabled: false },
        rpInitiatedLogout: {
          enabled: true,
          logoutSource: (context: Context, form: string) => {
            context.body = `<!doctype html><title>Log out</title>${form}
              <button type="submit" form="op.logoutForm" name="logout" value="yes">Leave the provider</button>`;
          },
        },
      },
    });
    const answer = provider.callback();
    this.handler = (request, response) => {
      if (!request.url?.startsWith('/interaction/')) return answer(request, response);
      void this.interact(provider, request, response);
    };
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  private async interact(provider: Provider, request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method === 'GET') return void response.writeHead(200, { 'content-type': 'text/html' }).end(FORM);
    let body = '';
    for await (const chunk of request) body += String(chunk);
    const accountId = new URLSearchParams(body).get('login') ?? '';
    await provider.interactionFinished(request, response, { login: { accountId } });
  }
}
