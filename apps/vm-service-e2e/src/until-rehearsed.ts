import type { Page } from 'playwright-core';

/**
 * Waits until the page that creates an instance shows what will happen. Before, it may not know the images yet, without
 * which it does not send the form.
 */
export const untilRehearsed = (page: Page): Promise<void> =>
  page
    .getByRole('region', { name: 'What will happen' })
    .getByText(/^\d+ steps?[,.] /)
    .waitFor();
