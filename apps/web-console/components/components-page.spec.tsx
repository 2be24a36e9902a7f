import { render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { MockService } from '../src/testing/mock-service.js';
import { ComponentsPage } from './components-page.js';

const UI = join(import.meta.dirname, '../src/shared/ui');
const SECTIONS = join(import.meta.dirname, 'sections');

const componentFiles = (): string[] =>
  readdirSync(UI).filter((name) => name.endsWith('.tsx') && !name.endsWith('.spec.tsx'));

/** The panel of PeekFrame and PlanPanel. */
const SHOWN_BY_OTHERS = ['side-panel.tsx'];

test('every component of shared/ui has a place on the page', () => {
  const sections = readdirSync(SECTIONS).map((name) => readFileSync(join(SECTIONS, name), 'utf8'));
  const missing = componentFiles().filter(
    (name) => !sections.some((text) => text.includes(`/shared/ui/${name.replace('.tsx', '.js')}'`)),
  );
  expect(missing).toEqual(SHOWN_BY_OTHERS);
});

test('the page opens its panels and dialogs without a service', async () => {
  const service = new MockService();
  service.install();
  const user = userEvent.setup({ delay: null });
  render(<ComponentsPage />);
  for (const [button, role, name] of [
    ['Open the details', 'complementary', 'Details of web-1'],
    ['Open the plan', 'complementary', 'Restart web-1'],
    ['Open a warning', 'dialog', 'Delete web-1?'],
  ] as const) {
    await user.click(screen.getByRole('button', { name: button }));
    await screen.findByRole(role, { name });
  }
  expect(service.refused).toEqual([]);
});
