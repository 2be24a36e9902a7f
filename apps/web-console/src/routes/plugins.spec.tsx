import type { PluginView } from '@headgate/api-contracts';
import { screen, within } from '@testing-library/react';
import type { MockService } from '../testing/mock-service.js';
import { closeConsole, givenService, openConsole } from '../testing/render-console.js';
import { PANEL } from '../testing/panel.js';

let service: MockService;
beforeEach(() => (service = givenService()));
afterEach(() => closeConsole(service));

const bootc: PluginView = {
  name: 'bootc',
  description: 'Creates VMs from bootable container images',
  version: '1.0.0',
  installed: false,
  inStore: true,
  origin: 'bundled',
};

const plan = { steps: [{ name: 'fetch', detail: 'Fetch it.' }], warnings: [], refusals: [] };

describe('the plugins', () => {
  test('are installed and removed, after their plan was shown', async () => {
    let installed = false;
    service.on('GET /api/plugins', () => ({ body: [{ ...bootc, installed }] }));
    service.on('POST /api/plugins/bootc/install', ({ query }: { query: URLSearchParams }) => {
      if (query.get('dryRun') === 'true') return { body: plan };
      installed = true;
      return { body: { installed: 'bootc' } };
    });
    service.on('DELETE /api/plugins/bootc', ({ query }: { query: URLSearchParams }) => {
      if (query.get('dryRun') === 'true') return { body: plan };
      installed = false;
      return { body: { status: 'removed' } };
    });
    const { user } = await openConsole('/plugins', [], service);
    expect((await screen.findByRole('row', { name: /^bootc/ })).textContent).toContain('BundledNot installed');
    await user.click(screen.getByRole('button', { name: 'Install bootc' }));
    expect(await screen.findByText('Fetch it.')).toBeTruthy();
    expect(installed).toBe(false);
    await user.click(within(screen.getByRole(...PANEL)).getByRole('button', { name: 'Install' }));
    expect(await screen.findByText('bootc was installed')).toBeTruthy();
    await user.click(await screen.findByRole('button', { name: 'Remove bootc' }));
    expect(await screen.findByText('Fetch it.')).toBeTruthy();
    await user.click(within(screen.getByRole(...PANEL)).getByRole('button', { name: 'Remove' }));
    expect(await screen.findByText('bootc was removed')).toBeTruthy();
    expect(await screen.findByRole('button', { name: 'Install bootc' })).toBeTruthy();
  });

  test('show upgrades, problems and the publisher', async () => {
    service.on('GET /api/plugins', () => ({
      headers: { 'svc-partial': 'true' },
      body: [
        {
          ...bootc,
          installed: true,
          availableVersion: '1.1.0',
          origin: 'https://plugins.example.org/',
          publisher: 'acme',
        },
        { ...bootc, name: 'broken', installed: true, problem: 'Its file main.mjs is missing.' },
        { ...bootc, name: 'gone', installed: true, inStore: false },
      ],
    }));
    await openConsole('/plugins', [], service);
    const row = await screen.findByRole('row', { name: /^bootc/ });
    expect(row.textContent).toContain('https://plugins.example.org/, signed by acmeInstalled, 1.1.0 is available');
    expect(within(row).getByRole('button', { name: 'Upgrade bootc' })).toBeTruthy();
    expect(screen.getByRole('row', { name: /^broken/ }).textContent).toContain('Its file main.mjs is missing.');
    expect(screen.getByRole('button', { name: 'Reinstall broken' })).toBeTruthy();
    expect(screen.queryByRole('button', { name: /(Install|Upgrade) gone/ })).toBeNull();
    expect(screen.getByText(/A plugin index could not be read/)).toBeTruthy();
  });

  test('are read-only for users who are not administrators', async () => {
    service.on('GET /api/plugins', [bootc]);
    service.on('GET /api/whoami', { login: 'bob', name: 'Bob', admin: false, enforced: true, trust: 'users' });
    await openConsole('/plugins', [], service);
    const button = await screen.findByRole('button', { name: 'Install bootc' });
    expect(button.getAttribute('aria-disabled') ?? String((button as HTMLButtonElement).disabled)).toBe('true');
  });
});
