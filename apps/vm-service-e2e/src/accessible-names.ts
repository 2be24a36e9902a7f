import type { Page } from 'playwright-core';

/** Roles of controls that a screen reader announces by their name. */
const CONTROLS = [
  'button',
  'link',
  'textbox',
  'checkbox',
  'radio',
  'combobox',
  'switch',
  'tab',
  'menuitem',
  'grid',
  'dialog',
  'region',
  'toolbar',
];

/** Roles of the controls in Chromium's accessibility tree that have no name. */
export async function unnamedControls(page: Page): Promise<string[]> {
  const session = await page.context().newCDPSession(page);
  const { nodes } = await session.send('Accessibility.getFullAXTree');
  await session.detach();
  return nodes
    .filter(({ ignored, role, name }) => !ignored && CONTROLS.includes(String(role?.value)) && !name?.value)
    .map(({ role }) => String(role?.value));
}
