import { FakeService, type SeenRequest } from '../testing/fake-service.js';
import { Cli } from '../testing/run-cli.js';
import { MAX_MESSAGE_BYTES } from './mcp-bridge.js';

interface Body {
  readonly id?: number;
  readonly method: string;
}

const line = (message: unknown): string => `${JSON.stringify(message)}\n`;
const call = (id: number, method = 'tools/list') => ({ jsonrpc: '2.0', id, method });
const INITIALIZE = { jsonrpc: '2.0', id: 0, method: 'initialize', params: { protocolVersion: '2025-06-18' } };
const INITIALIZED = { jsonrpc: '2.0', method: 'notifications/initialized' };
const BEGIN = line(INITIALIZE) + line(INITIALIZED);

describe('headgate mcp', () => {
  let service: FakeService;
  let cli: Cli;
  let sessions: number;
  let ended: Set<string>;

  beforeEach(async () => {
    [sessions, ended] = [0, new Set()];
    service = await FakeService.open();
    cli = new Cli({ HEADGATE_SERVER: service.url, HEADGATE_TOKEN: 'hgt_secret' });
    service.on('POST /api/ext/mcp', (response, request) => {
      const { id, method } = request.body as Body;
      const session = request.headers['mcp-session-id'];
      const answer = (status: number, body: object, headers: Record<string, string> = {}): void =>
        void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
      if (method === 'initialize') {
        const result = { protocolVersion: '2025-06-18' };
        return answer(200, { jsonrpc: '2.0', id, result }, { 'mcp-session-id': `session-${++sessions}` });
      }
      if (ended.has(String(session))) return answer(404, { error: 'It has expired.', code: 'PATH_NOT_FOUND' });
      if (id === undefined) return void response.writeHead(202).end();
      if (method === 'refused') return answer(403, { error: 'The agent is stopped.', code: 'NOT_PERMITTED' });
      if (method === 'foreign') return void response.writeHead(200, { 'content-type': 'text/html' }).end('<p>');
      answer(200, { jsonrpc: '2.0', id, result: { session, text: 'one\ntwo\u2028\u001b' } });
    });
    service.json('DELETE /api/ext/mcp', {});
  });
  afterEach(async () => {
    await service.close();
    cli.remove();
  });

  const run = async (stdin: string) => {
    const { code, stdout, stderr } = await cli.run(['mcp'], { stdin });
    const answers = stdout
      .split('\n')
      .slice(0, -1)
      .map((text) => JSON.parse(text) as Record<string, unknown>);
    return { code, stderr, answers };
  };
  const methods = (): string[] =>
    service.requests.map(({ method, body }: SeenRequest) => (body as Body | undefined)?.method ?? method);

  test('copies messages with the token and the session, and ends both with standard input', async () => {
    const { code, stderr, answers } = await run(BEGIN + line(call(1)));
    expect([code, stderr]).toEqual([0, '']);
    expect(answers).toEqual([
      { jsonrpc: '2.0', id: 0, result: { protocolVersion: '2025-06-18' } },
      { jsonrpc: '2.0', id: 1, result: { session: 'session-1', text: 'one\ntwo\u2028\u001b' } },
    ]);
    expect(methods().toSorted()).toEqual(['DELETE', 'initialize', 'notifications/initialized', 'tools/list']);
    expect(service.requests.at(-1)?.method).toBe('DELETE');
    for (const { headers } of service.requests) expect(headers.authorization).toBe('Bearer hgt_secret');
    expect(service.requests[0]?.headers).not.toHaveProperty('mcp-session-id');
    for (const { headers } of service.requests.slice(1))
      expect(headers).toMatchObject({ 'mcp-session-id': 'session-1', 'mcp-protocol-version': '2025-06-18' });
  });

  test('answers each of many messages, and waits for the last ones', async () => {
    const ids = Array.from({ length: 60 }, (_none, index) => index + 1);
    const { answers } = await run(BEGIN + ids.map((id) => line(call(id))).join(''));
    expect(
      answers
        .slice(1)
        .map(({ id }) => id)
        .toSorted((a, b) => Number(a) - Number(b)),
    ).toEqual(ids);
  });

  test('begins again when the service has ended the session, once for all messages', async () => {
    ended.add('session-1');
    const { answers } = await run(line(INITIALIZE) + line(call(1)) + line(call(2)));
    expect(answers.map(({ result }) => (result as { session?: string }).session).toSorted()).toEqual([
      'session-2',
      'session-2',
      undefined,
    ]);
    expect(sessions).toBe(2);
  });

  test('gives up when the new session is ended, too', async () => {
    ended.add('session-1').add('session-2');
    const { answers } = await run(line(INITIALIZE) + line(call(1)));
    expect(answers[1]).toMatchObject({ id: 1, error: { code: -32000, data: { code: 'PATH_NOT_FOUND' } } });
    expect(sessions).toBe(2);
  });

  test('answers a refusal, and an answer that is none, as an error', async () => {
    const { answers } = await run(BEGIN + line(call(1, 'refused')) + line(call(2, 'foreign')));
    expect(answers.find(({ id }) => id === 1)).toEqual({
      jsonrpc: '2.0',
      id: 1,
      error: { code: -32000, message: 'The agent is stopped.', data: { code: 'NOT_PERMITTED' } },
    });
    expect(answers.find(({ id }) => id === 2)).toMatchObject({ error: { code: -32000 } });
  });

  test('keeps an error of a notification from standard output', async () => {
    ended.add('undefined');
    const { code, stderr, answers } = await run(line(INITIALIZED));
    expect([code, answers]).toEqual([0, []]);
    expect(stderr).not.toBe('');
  });

  test.each([
    ['no JSON', '{nope', -32700],
    ['bytes that are not text', '\u0000', -32700],
    ['a list of messages', '[]', -32600],
    ['null', 'null', -32600],
    ['another protocol', '{"jsonrpc":"1.0","id":1,"method":"a"}', -32600],
    ['an object as ID', '{"jsonrpc":"2.0","id":{},"method":"a"}', -32600],
    ['a number as method', '{"jsonrpc":"2.0","id":1,"method":1}', -32600],
    ['too many bytes', JSON.stringify({ ...call(1), params: 'x'.repeat(MAX_MESSAGE_BYTES) }), -32600],
    ['a nesting that no parser survives', '['.repeat(500_000), -32700],
  ])('refuses %s, and goes on', async (_what, text, code) => {
    const { answers } = await run(`${BEGIN}${text}\n\n  \n${line(call(9))}`);
    expect(answers.filter(({ id }) => id === null)).toMatchObject([{ error: { code } }]);
    expect(answers.find(({ id }) => id === 9)).toHaveProperty('result');
    expect(methods().filter((method) => method === 'tools/list')).toHaveLength(1);
  });

  test('needs a token, and never prints it', async () => {
    const { code, stdout, stderr } = await cli.run(['mcp'], { env: { HEADGATE_TOKEN: '' } });
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain('mcp needs an API token with a leash');
    await service.close();
    const { answers } = await run(BEGIN);
    expect(answers).toMatchObject([{ id: 0, error: { code: -32000 } }]);
    expect(JSON.stringify(answers)).not.toContain('hgt_secret');
  });
});
