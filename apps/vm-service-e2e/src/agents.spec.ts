import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { CreatedTokenView, JournalEntryView, VmView } from '@headgate/api-contracts';
import { Api } from './api.js';
import { HeadgateProgram } from './headgate-program.js';
import { RunningService } from './running-service.js';

const LEASH = { changesPerHour: 5, maxPercentOfFolder: 100, approval: 'destructive' };

describe('an agent of the built service', () => {
  let service: RunningService;
  let api: Api;
  let client: Client;
  let token: string;
  let headgate: HeadgateProgram;

  beforeAll(async () => {
    service = await RunningService.start(['--sandbox=12']);
    api = new Api(service.url);
    const order = { name: 'agent', actions: ['power', 'change', 'delete'], agent: LEASH };
    const { body } = await api.send<CreatedTokenView>('POST', '/api/ext/tokens', order);
    token = body.token;
    headgate = await HeadgateProgram.build(service.url);
    const requestInit = { headers: { authorization: `Bearer ${token}` } };
    client = new Client({ name: 'e2e', version: '1' });
    const transport = new StreamableHTTPClientTransport(new URL(`${service.url}/api/ext/mcp`), { requestInit });
    await client.connect(transport as Parameters<Client['connect']>[0]);
  }, 600_000);
  afterAll(async () => {
    await client?.close();
    headgate?.remove();
    await service?.stop();
  });

  const call = async <T>(name: string, args: Record<string, unknown>): Promise<T> => {
    const { structuredContent } = await client.callTool({ name, arguments: args });
    return (structuredContent as { data: T }).data;
  };
  const rehearse = (args: Record<string, unknown>) => call<{ id: string; hash: string }>('rehearse', args);
  const commit = ({ id, hash }: { id: string; hash: string }) =>
    call<{ status?: string; code?: string }>('commit', { id, hash, reason: 'An end-to-end test.' });

  test('lists, rehearses and commits, and the journal has its words', async () => {
    const { instances } = await call<{ instances: VmView[] }>('list_instances', { q: 'status:running', limit: 3 });
    const ref = instances[0]?.ref ?? '';
    const rehearsal = await rehearse({ action: 'tag', refs: [ref], tag: 'by-agent' });
    expect(await commit(rehearsal)).toMatchObject({ status: 'done' });
    expect(await commit(rehearsal)).toMatchObject({ code: 'CONFLICT' });
    const { body } = await api.send<JournalEntryView[]>(
      'GET',
      `/api/ext/journal?ref=${encodeURIComponent(ref)}&limit=1`,
    );
    expect(body[0]?.message).toContain('By the agent agent, which said: "An end-to-end test."');
  });

  test('waits for an approval of a deletion', async () => {
    const { instances } = await call<{ instances: VmView[] }>('list_instances', {});
    const ref = instances.at(-1)?.ref ?? '';
    const rehearsal = await rehearse({ action: 'delete', refs: [ref] });
    expect(await commit(rehearsal)).toMatchObject({ status: 'waiting' });
    const approved = await api.send<{ status: string }>('POST', `/api/ext/approvals/${rehearsal.id}/approve`);
    expect(approved.body).toMatchObject({ status: 'done' });
    expect(await call('get_instance', { ref })).not.toMatchObject({ status: 'Running' });
  });

  test('does the same over headgate mcp, whose process ends with its input', async () => {
    const { command, args, env } = headgate.commandOf(['mcp'], { HEADGATE_TOKEN: token });
    const transport = new StdioClientTransport({ command, args, env, stderr: 'pipe' });
    let complaints = '';
    transport.stderr?.on('data', (data: Buffer) => (complaints += data.toString()));
    const local = new Client({ name: 'e2e', version: '1' });
    await local.connect(transport);
    const { tools } = await local.listTools();
    expect(tools.map(({ name }) => name)).toContain('rehearse');
    const { structuredContent } = await local.callTool({ name: 'list_instances', arguments: { limit: 2 } });
    expect((structuredContent as { data: { instances: VmView[] } }).data.instances).toHaveLength(2);
    const { pid } = transport;
    const closing = Date.now();
    await local.close();
    // The client would kill a process that goes on after 2 seconds.
    expect(Date.now() - closing).toBeLessThan(2_000);
    expect(() => process.kill(pid ?? 0, 0)).toThrow('ESRCH');
    expect(complaints).toBe('');
  });

  test('is in a journal whose export verifies, and no longer does after a change', async () => {
    const { stdout } = await headgate.run(['journal', 'export']);
    const file = join(headgate.home, 'journal.jsonl');
    writeFileSync(file, stdout);
    expect(await headgate.run(['journal', 'verify', file])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('OK: '),
    });
    writeFileSync(file, stdout.replace('An end-to-end test.', 'An end-to-end lie.'));
    expect(await headgate.run(['journal', 'verify', file])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('was changed'),
    });
  });

  test('is stopped', async () => {
    await api.send('POST', '/api/ext/agents/stop');
    await expect(call('get_leash', {})).rejects.toThrow('An administrator has stopped the agent');
  });
});
