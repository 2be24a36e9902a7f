import type { Locator, Page } from 'playwright-core';

/** The text that the page shows for an English one, with the values of its placeholders. */
export type Say = (english: string, values?: Readonly<Record<string, string | number>>) => string;

/** A page of the console, in any language. */
export interface Stage {
  readonly page: Page;
  readonly say: Say;
}

type Step = (stage: Stage) => Promise<unknown>;
type Role = 'button' | 'menuitem' | 'checkbox' | 'link' | 'textbox';

/** A dialog, panel, menu or another layer that opens above or next to a page. */
export interface ConsoleDialog {
  readonly name: string;
  /** The page that it opens from. */
  readonly path: string;
  /** A selector of the layer. */
  readonly layer: string;
  /** A part of it that appears once it has everything, such as its plan. */
  readonly ready?: string;
  /** It opens in a wide window only. */
  readonly isWide?: true;
  /** It opens on a phone only. */
  readonly isPhone?: true;
  readonly steps: readonly Step[];
}

export const DIALOG = 'dialog[open]';
export const PANEL = '.hg-side-panel';
export const MENU = '.hg-panel';
/** The steps of a plan, or the reasons why there is none. */
export const PLANNED = ['.hg-plan', '.hg-names', '.hg-alert--danger'].map((part) => `${PANEL} ${part}`).join();

export const control = ({ page, say }: Stage, role: Role, text: string, values?: Parameters<Say>[1]): Locator =>
  page
    .getByRole(role, { name: say(text, values) })
    .locator('visible=true')
    .first();

/** Presses a button of that name. */
export const press =
  (text: string, values?: Parameters<Say>[1], role: Role = 'button'): Step =>
  (stage) =>
    control(stage, role, text, values).click();

export const choose = (text: string): Step => press(text, undefined, 'menuitem');

export const pressIt =
  (selector: string): Step =>
  ({ page }) =>
    page.locator(selector).locator('visible=true').first().click();

export const fill =
  (selector: string, text: string): Step =>
  ({ page }) =>
    page.locator(selector).first().fill(text);

export const select =
  (selector: string, value: string): Step =>
  ({ page }) =>
    page.locator(selector).first().selectOption(value);

export const keys =
  (...pressed: string[]): Step =>
  async ({ page }) => {
    for (const key of pressed) await page.keyboard.press(key);
  };

/** Opens the dialog of a page that has been loaded. */
export async function openDialog(dialog: ConsoleDialog, stage: Stage): Promise<Locator> {
  for (const step of dialog.steps) await step(stage);
  const layer = stage.page.locator(dialog.layer).first();
  await layer.waitFor();
  if (dialog.ready !== undefined) await stage.page.locator(dialog.ready).first().waitFor();
  await stage.page.waitForFunction(() => !document.querySelector('.hg-spinner, .hg-skeleton'));
  return layer;
}
