import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { CreatedTokenView, JournalEntryView, VmView } from '@headgate/api-contracts';
import { Api } from './api.js';
import { RunningService } from './running-service.js';

const LEASH = { changesPerHour: 5, maxPercentOfFolder: 100, approval: 'destructive' };

describe('an agent of the built service', () => {
  let service: RunningService;
  let api: Api;
  let client: Client;

  beforeAll(async () => {
    service = await RunningService.start(['--sandbox=12']);
    api = new Api(service.url);
    const order = { name: 'agent', actions: ['power', 'change', 'delete'], agent: LEASH };
    const { body } = await api.send<CreatedTokenView>('POST', '/api/ext/tokens', order);
    const requestInit = { headers: { authorization: `Bearer ${body.token}` } };
    client = new Client({ name: 'e2e', version: '1' });
    const transport = new StreamableHTTPClientTransport(new URL(`${service.url}/api/ext/mcp`), { requestInit });
    await client.connect(transport as Parameters<Client['connect']>[0]);
  }, 600_000);
  afterAll(async () => {
    await client?.close();
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

  test('is stopped', async () => {
    await api.send('POST', '/api/ext/agents/stop');
    await expect(call('get_leash', {})).rejects.toThrow('An administrator has stopped the agent');
  });
});
