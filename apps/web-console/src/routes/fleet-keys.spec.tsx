import { fireEvent, screen } from '@testing-library/react';
import { buildStoppedVm, buildVm } from '../testing/build-vm.js';
import type { MockService } from '../testing/mock-service.js';
import { closeConsole, givenService, openConsole } from '../testing/render-console.js';

describe('the list of VMs, with the keyboard', () => {
  let service: MockService;
  beforeEach(() => (service = givenService()));
  afterEach(() => closeConsole(service));

  const web = buildVm({ name: 'web-1', tags: ['shop'] });
  const db = buildStoppedVm({ name: 'db-1' });
  const table = () => screen.getByRole('grid', { name: 'Virtual machines' });
  const press = (key: string, options = {}) =>
    fireEvent.keyDown(document.activeElement ?? document.body, { key, ...options });
  const active = () => table().getAttribute('aria-activedescendant');

  test('moves with the arrows and opens with Enter', async () => {
    await openConsole('/vms', [web, db], service);
    table().focus();
    press('ArrowDown');
    press('ArrowDown');
    expect(active()).toBe(`row-${web.ref}`);
    press('Enter');
    expect(await screen.findByRole('heading', { name: 'web-1' })).toBeTruthy();
  });

  test('moves to the controls of a row with Right, and back with Escape', async () => {
    await openConsole('/vms', [web, db], service);
    table().focus();
    press('ArrowDown');
    for (let step = 0; step < 3; step++) press('ArrowRight');
    expect(document.activeElement).toBe(screen.getByRole('button', { name: 'Start db-1' }));
    press('ArrowLeft');
    expect(document.activeElement).toBe(screen.getByRole('link', { name: 'db-1' }));
    press('Escape');
    press('Escape');
    expect(document.activeElement).toBe(table());
  });

  test('selects with Space, with Shift and an arrow key, and everything with Ctrl+A', async () => {
    await openConsole('/vms', [web, db, buildVm({ name: 'zoo' })], service);
    table().focus();
    press('ArrowDown');
    press(' ');
    expect(screen.getByText('1 selected')).toBeTruthy();
    press('ArrowDown', { shiftKey: true });
    expect(screen.getByText('2 selected')).toBeTruthy();
    press('a', { ctrlKey: true });
    expect(screen.getByText('3 selected')).toBeTruthy();
    press('Escape');
    expect(screen.queryByText(/selected/)).toBeNull();
  });

  test('stays on the active VM while others are added and removed', async () => {
    const { receive } = await openConsole('/vms', [web, db], service);
    await receive(() => screen.getByRole('link', { name: 'db-1' }).focus());
    await receive(() => service.stream.emit('changed', buildVm({ name: 'aaa' })));
    expect(await screen.findByRole('link', { name: 'aaa' })).toBeTruthy();
    expect(active()).toBe(`row-${db.ref}`);
    expect(document.activeElement).toBe(table());
  });
});
