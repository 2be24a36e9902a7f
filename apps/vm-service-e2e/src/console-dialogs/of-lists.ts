import type { DialogData } from './data.js';
import { choose, DIALOG, fill, keys, MENU, PANEL, PLANNED, press, pressIt, type ConsoleDialog } from './stage.js';

/** Few enough that each is in the list. */
const RUNNING = '/vms?q=status%3Arunning+namespace%3Adata';

/** The dialogs of the lists, and those of the frame of the console. */
export function listDialogs({ running }: DialogData): readonly ConsoleDialog[] {
  const bulk = (text: string, isInMenu = false, path = RUNNING): ConsoleDialog => ({
    name: `${text}, of many`,
    path,
    layer: PANEL,
    ready: PLANNED,
    steps: [
      press('Select all shown', undefined, 'checkbox'),
      ...(isInMenu ? [press('More'), choose(text)] : [press(text)]),
    ],
  });
  return [
    bulk('Restart'),
    bulk('Force stop'),
    bulk('Delete'),
    bulk('Stop', false, '/containers'),
    { ...bulk('Add tag', true), ready: PANEL },
    { ...bulk('Put into a folder', true), ready: PANEL },
    { ...bulk('Move to another context', true), layer: DIALOG, ready: DIALOG },
    { name: 'the peek of a VM', path: `/vms?peek=${running.ref}`, layer: PANEL, steps: [] },
    { name: 'the columns', path: '/vms', layer: MENU, isWide: true, steps: [press('Columns')] },
    { name: 'a filter', path: '/vms', layer: MENU, isWide: true, steps: [press('Namespace')] },
    {
      name: 'a filter on a phone',
      path: '/vms',
      layer: MENU,
      isPhone: true,
      steps: [press('Filters'), press('Namespace')],
    },
    { name: 'the keys', path: '/vms', layer: DIALOG, steps: [keys('?')] },
    {
      name: 'the palette',
      path: '/vms',
      layer: '.hg-palette',
      ready: '.hg-palette-item',
      steps: [keys('Control+k'), fill('.hg-palette-input', 'restart')],
    },
    { name: 'the tasks', path: '/vms', layer: '.hg-drawer', steps: [press('Tasks')] },
    { name: 'the contexts', path: '/vms', layer: MENU, steps: [pressIt('.hg-connection > button')] },
    { name: 'more pages', path: '/vms', layer: MENU, isPhone: true, steps: [pressIt('.hg-phone-more > button')] },
    {
      name: 'a new view',
      path: RUNNING,
      layer: DIALOG,
      isWide: true,
      steps: [press('Save this list as a view')],
    },
    {
      name: 'the menu of a view',
      path: RUNNING,
      layer: MENU,
      isWide: true,
      steps: [pressIt('.hg-side-menu > button')],
    },
    {
      name: 'another name of a view',
      path: RUNNING,
      layer: DIALOG,
      isWide: true,
      steps: [pressIt('.hg-side-menu > button'), choose('Rename…')],
    },
    { name: 'the languages', path: '/vms', layer: MENU, isWide: true, steps: [pressIt('.hg-language > button')] },
  ];
}
