import { Controller, Get, Inject, Param, Req, Res } from '@nestjs/common';
import { anyVisitor } from '@headgate/access';
import { LoginProgress, PROGRESS_SECONDS, ProviderError, type OpenIdProvider, type Progress } from '@headgate/login';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { HostCookie } from '../identity/host-cookie.js';
import type { PeerRequest } from '../identity/local-trust.js';
import { SecureConnection } from '../identity/secure-connection.js';
import { answer, Describe } from '../platform/answers.decorator.js';
import { Needs } from '../platform/needs.decorator.js';
import { LOGGER } from '../platform/tokens.js';
import { LoginProviders } from './login-providers.js';
import { LoginRequests } from './login-requests.js';

const HOME = '/vms';
const MAX_RETURN_CHARS = 2000;

/** A browser goes to a login provider, and comes back. Both answers are redirects, also of failures. */
@Controller('api/ext/login/providers')
export class ProviderLoginController {
  private readonly cookie: HostCookie;

  constructor(
    private readonly requests: LoginRequests,
    private readonly providers: LoginProviders,
    private readonly progress: LoginProgress,
    private readonly connection: SecureConnection,
    @Inject(LOGGER) private readonly log: Logger,
  ) {
    this.cookie = new HostCookie('headgate-login', connection);
  }

  @Needs(anyVisitor)
  @Get(':id/start')
  @Describe('Leads a browser to a login provider.', answer(303, 'text/plain'))
  async start(@Param('id') id: string, @Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    this.requests.expectPossible(request);
    const provider = this.providers.expect(id);
    try {
      const returnTo = pageIn((request.query as Record<string, unknown>)['returnTo']);
      const { url, progress } = await provider.begin(this.redirectUri(request.raw, id), returnTo);
      void reply.header('set-cookie', this.cookie.set(request.raw, this.progress.seal(progress), PROGRESS_SECONDS));
      this.lead(reply, url.href);
    } catch (error) {
      this.fail(reply, provider, error);
    }
  }

  @Needs(anyVisitor)
  @Get(':id/callback')
  @Describe('Receives a browser from a login provider, and opens its session.', answer(303, 'text/plain'))
  async callback(@Param('id') id: string, @Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    this.requests.expectPossible(request);
    const provider = this.providers.expect(id);
    const kept = this.cookie.read(request.raw);
    void reply.header('set-cookie', this.cookie.set(request.raw, '', 0));
    try {
      const url = new URL(this.redirectUri(request.raw, id));
      url.search = new URL(request.raw.url ?? '', url).search;
      const progress: Progress = this.progress.take(kept, id, url.searchParams.get('state'));
      const { login, name, groups, idToken } = await provider.finish(url, progress);
      await this.requests.open(request, reply, { login, name, groups, idToken, provider: id });
      this.lead(reply, `/#${progress.returnTo}`);
    } catch (error) {
      this.fail(reply, provider, error);
    }
  }

  /** Each provider has an address of its own, so an answer of one can't be taken for that of another. RFC 9700, 4.4. */
  private redirectUri(request: PeerRequest, id: string): string {
    return `${this.connection.originOf(request)}/api/ext/login/providers/${id}/callback`;
  }

  private fail(reply: FastifyReply, { settings }: OpenIdProvider, error: unknown): void {
    if (!(error instanceof ProviderError)) throw error;
    const { failure, message } = error;
    // Not in the journal, which anyone could fill then.
    this.log.warn({ provider: settings.id, failure, reason: message }, 'a login at a provider has failed');
    this.lead(reply, `/#/login?failed=${failure}&provider=${settings.id}`);
  }

  private lead(reply: FastifyReply, location: string): void {
    void reply.status(303).header('location', location).type('text/plain').send('');
  }
}

/** Pages are behind the `#` of our own page, so no text leads to another site. */
function pageIn(text: unknown): string {
  const isPage = typeof text === 'string' && /^\/(?!\/)[\x21-\x7e]*$/.test(text) && text.length <= MAX_RETURN_CHARS;
  return isPage ? text : HOME;
}
