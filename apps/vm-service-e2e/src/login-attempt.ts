export const COOKIE = 'headgate';

/** A user agent of the attacker: it keeps the cookies of each host, and follows redirects on request. */
class Jar {
  private readonly cookies = new Map<string, Map<string, string>>();

  async get(url: URL, body?: URLSearchParams): Promise<Response> {
    const known = this.of(url);
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { cookie: [...known].map(([name, value]) => `${name}=${value}`).join('; ') },
      ...(body && { method: 'POST', body }),
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (/max-age=0|1970/i.test(line)) known.delete(name);
      else known.set(name, value);
    }
    return response;
  }

  /** The cookies for a host. */
  of({ host }: URL): Map<string, string> {
    const known = this.cookies.get(host) ?? new Map<string, string>();
    this.cookies.set(host, known);
    return known;
  }
}

const locationOf = (response: Response, base: URL): URL => new URL(response.headers.get('location') ?? '', base);

/** A login at the provider without a browser, as an attacker can change it. */
export class Attempt {
  readonly jar = new Jar();

  constructor(private readonly service: string) {}

  /** @returns the address to which the provider sends the browser */
  async approve(login: string, returnTo = '/vms', provider = 'corp'): Promise<URL> {
    const start = new URL(`/api/ext/login/providers/${provider}/start`, this.service);
    start.searchParams.set('returnTo', returnTo);
    let url = locationOf(await this.jar.get(start), start);
    while (!url.pathname.startsWith('/api/ext/login/')) {
      const body = url.pathname.startsWith('/interaction/') ? new URLSearchParams({ login }) : undefined;
      const response = await this.jar.get(url, body);
      if (!response.headers.has('location')) throw new Error(`${url.pathname}: ${await response.text()}`);
      url = locationOf(response, url);
    }
    return url;
  }

  /** @returns the Cookie header of the session */
  async logIn(login: string): Promise<string> {
    const callback = await this.approve(login);
    await this.jar.get(callback);
    return `${COOKIE}=${this.jar.of(callback).get(COOKIE)}`;
  }

  /** Follows an address that must not open a session. @returns the failure that the page shows */
  async failure(callback: URL): Promise<string | undefined> {
    this.jar.of(callback).delete(COOKIE);
    const response = await this.jar.get(callback);
    if (this.jar.of(callback).has(COOKIE)) return 'a session';
    return /failed=(\w+)/.exec(response.headers.get('location') ?? '')?.[1];
  }
}
