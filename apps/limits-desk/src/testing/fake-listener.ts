/** Answers of the operator's API by method and path, for `fetch`. */
export class FakeListener {
  readonly requests: { method: string; path: string; token: string | undefined; body: unknown }[] = [];
  readonly answers = new Map<string, { status: number; body: unknown }>();

  constructor() {
    globalThis.fetch = ((path: string, init: RequestInit) => this.fetch(path, init)) as typeof fetch;
  }

  answer(route: string, body: unknown, status = 200): void {
    this.answers.set(route, { status, body });
  }

  private fetch(path: string, { method = 'GET', headers, body }: RequestInit): Promise<Partial<Response>> {
    const { Authorization: token } = headers as Record<string, string>;
    this.requests.push({ method, path, token, body: body === undefined ? undefined : JSON.parse(String(body)) });
    const found = this.answers.get(`${method} ${path.split('?', 1)[0]}`);
    const { status, body: answer } = found ?? { status: 404, body: { error: 'Unknown.' } };
    return Promise.resolve({ ok: status < 400, status, json: () => Promise.resolve(answer) });
  }
}
