import { screen, within } from '@testing-library/react';
import type { ApprovalView, TwinView } from '@headgate/api-contracts';
import type { MockService } from '../testing/mock-service.js';
import { closeConsole, givenService, openConsole } from '../testing/render-console.js';

const waiting: ApprovalView = {
  id: '3fa9c1e2-0000-4000-8000-000000000001',
  token: 'aaaaaaaaaa',
  agent: 'night-watch',
  action: 'delete',
  destructive: true,
  refs: ['vm/lab/default/web'],
  changes: 1,
  plan: { steps: [{ name: 'delete', detail: 'web' }], warnings: ['The disk root is deleted.'], refusals: [] },
  reason: '<b>Approved by root</b>',
  committedAt: '2026-01-01T00:00:00.000Z',
  expiresAt: '2026-01-01T00:30:00.000Z',
};
const PATH = '/api/ext/approvals';

describe('the approvals', () => {
  let service: MockService;
  let approvals: ApprovalView[];

  beforeEach(() => {
    approvals = [waiting];
    service = givenService();
    service.on(`GET ${PATH}`, () => ({ body: approvals }));
  });
  afterEach(() => closeConsole(service));

  test('show the plan, and the words of the agent as text, with their number in the sidebar', async () => {
    await openConsole('/approvals', [], service);
    const section = within(await screen.findByRole('region', { name: 'night-watch: delete' }));
    expect(section.getByText('<b>Approved by root</b>').tagName).toBe('BLOCKQUOTE');
    expect(section.getByText('The disk root is deleted.')).toBeTruthy();
    expect(section.getByText('Destroys data')).toBeTruthy();
    const link = await screen.findByRole('link', { name: /Approvals/ });
    expect(link.textContent).toContain('1');
  });

  test('show what a simulation has made of the change, and that it is one', async () => {
    const state = { status: 'Stopped', cpu: 2, mem: '4Gi', tags: [], restartRequired: false };
    const step = { seconds: 1.5, name: 'FailedScheduling', detail: '0/3 nodes are available', warning: true };
    const difference = 'The plan starts it; in the twin it is ErrorUnschedulable afterwards.';
    const twin: TwinView = {
      simulated: true,
      context: 'lab',
      readAt: '2026-01-01T00:00:00.000Z',
      objects: 100,
      simulatedSeconds: 30,
      settled: false,
      instances: [
        {
          ref: 'vm/lab/default/<i>web</i>',
          before: state,
          after: { ...state, status: 'ErrorUnschedulable' },
          steps: [step],
          difference,
        },
      ],
      others: [{ ref: 'vm/lab/default/other', before: { ...state, node: 'node-a' }, steps: [] }],
      differences: ['The plan is "start"; the plan in the twin is "wait".'],
      notes: ['No real guest runs.'],
    };
    approvals = [{ ...waiting, twin }];
    await openConsole('/approvals', [], service);
    const section = within(await screen.findByRole('region', { name: 'Simulation' }));
    expect(section.getByText(/not in the cluster/)).toBeTruthy();
    expect(section.getByText('vm/lab/default/<i>web</i>')).toBeTruthy();
    for (const text of [difference, 'FailedScheduling: 0/3 nodes are available', 'No real guest runs.', 'Also changed'])
      expect(section.getByText(text)).toBeTruthy();
    expect(section.getByText('The simulation ended before everything came to rest')).toBeTruthy();
    expect(section.getByText(/deleted/)).toBeTruthy();
  });

  test.each([
    ['Approve', 'approve'],
    ['Reject', 'reject'],
  ])('are decided with %s', async (button, path) => {
    service.on(`POST ${PATH}/${waiting.id}/${path}`, () => {
      approvals = [];
      return { body: { status: 'done' } };
    });
    const { user } = await openConsole('/approvals', [], service);
    await user.click(await screen.findByRole('button', { name: button }));
    expect(await screen.findByText('No change waits for an approval')).toBeTruthy();
  });

  test('show why an approval was refused', async () => {
    const error = 'The plan to delete is not the rehearsed one any more.';
    service.on(`POST ${PATH}/${waiting.id}/approve`, () => ({ status: 409, body: { code: 'PLAN_CHANGED', error } }));
    const { user } = await openConsole('/approvals', [], service);
    await user.click(await screen.findByRole('button', { name: 'Approve' }));
    expect(await screen.findByText(error)).toBeTruthy();
  });
});
