import { LONG_NAME, type DialogData } from './data.js';
import { choose, control, DIALOG, fill, MENU, PANEL, PLANNED, press, pressIt, type ConsoleDialog } from './stage.js';

const MORE = '.hg-split .hg-dropdown > button';

/** The dialogs of the pages of one VM or container. */
export function instanceDialogs({ running, measured, stopped, container }: DialogData): readonly ConsoleDialog[] {
  const pageOf = (tab = 'overview', { context, namespace, name } = running): string =>
    `/vms/${context}/${namespace}/${name}/${tab}`;
  const box = `/containers/${container.context}/${container.namespace}/${container.name}`;
  const action = (text: string, isOfBox = false): ConsoleDialog => ({
    name: `${text} of a ${isOfBox ? 'container' : 'VM'}`,
    path: isOfBox ? box : pageOf(),
    layer: PANEL,
    ready: PLANNED,
    steps: [pressIt(MORE), choose(text)],
  });
  const form = (text: string, path: string): ConsoleDialog => ({
    name: `the form: ${text}`,
    path,
    layer: DIALOG,
    steps: [pressIt(MORE), choose(text)],
  });
  const snapshot = (text: string): ConsoleDialog => ({
    name: `the plan for a snapshot: ${text}`,
    path: pageOf('snapshots'),
    layer: PANEL,
    ready: PLANNED,
    steps: [press(text, { 0: LONG_NAME })],
  });
  return [
    { name: 'the menu of a VM', path: pageOf(), layer: MENU, steps: [pressIt(MORE)] },
    {
      name: 'the plan of a shutdown',
      path: pageOf(),
      layer: PANEL,
      ready: PLANNED,
      steps: [press('Shut down')],
    },
    action('Restart'),
    action('Pause'),
    action('Force stop'),
    action('Migrate'),
    action('Delete'),
    { name: 'the plan of a stop', path: box, layer: PANEL, ready: PLANNED, steps: [press('Stop')] },
    action('Delete', true),
    form('Move', pageOf()),
    form('Clone', pageOf('overview', stopped)),
    snapshot('Restore {0}'),
    snapshot('Delete {0}'),
    {
      name: 'the plan of hardware',
      path: pageOf('hardware'),
      layer: PANEL,
      ready: PLANNED,
      steps: [
        async (stage) => control(stage, 'textbox', 'CPUs').fill('7'),
        async (stage) => control(stage, 'textbox', 'Size of the new disk').fill('5Gi'),
        pressIt('.hg-hardware-foot .hg-button--primary:not([aria-disabled="true"])'),
      ],
    },
    {
      name: 'the values of the metrics as a table',
      path: pageOf('metrics', measured),
      layer: '.hg-disclosure > div',
      steps: [press('All values as a table')],
    },
    {
      name: 'the keys of a console',
      path: pageOf('console'),
      layer: MENU,
      steps: [press('Send keys')],
    },
    {
      name: 'the text for a guest',
      path: pageOf('console'),
      layer: DIALOG,
      steps: [press('Type text'), fill('#type-text', LONG_NAME)],
    },
    {
      name: 'the search of a serial console',
      path: pageOf('serial'),
      layer: '.hg-console [role="search"]',
      steps: [],
    },
    {
      name: 'the menu of a row',
      path: `/vms?q=${running.name}`,
      layer: MENU,
      steps: [press('More actions for {name}', { name: running.name })],
    },
  ];
}
